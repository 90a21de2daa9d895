// OpenAI's API for a whole origin, through the service worker: any page of it asks, the tab with the engine answers.

import { expect, test, type Page } from "playwright/test";
import { App } from "./support/app.ts";
import { StaticSite } from "./support/static-site.ts";

test.use({ serviceWorkers: "allow" });

let site: StaticSite;
test.beforeEach(async () => {
  site = await StaticSite.open("dist");
});
test.afterEach(() => site.switchOff());

/** Asks as the browser's console would, and reads the stream as it comes. */
async function ask(page: Page): Promise<{ status: number; numReads: number; text: string }> {
  return page.evaluate(async () => {
    const messages = [{ role: "user", content: "Tell me a story about a fox." }];
    const response = await fetch("v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages, temperature: 0, max_tokens: 64, stream: true }),
    });
    let text = "";
    let numReads = 0;
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      text += part.value;
      numReads++;
    }
    return { status: response.status, numReads, text };
  });
}

async function turn(page: Page, isOn: boolean): Promise<void> {
  await page.getByRole("button", { name: "Settings for all panes" }).click();
  await page.getByRole("checkbox", { name: "Answer OpenAI’s API" }).setChecked(isOn);
  await page.keyboard.press("Escape");
}

test("pages of the origin are answered while it is switched on and a tab is open", async ({ page, context }) => {
  await page.goto(`${site.url}?backend=cpu`);
  await new App(page).modelLoaded();
  expect((await ask(page)).status).toBe(404);
  await turn(page, true);
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  await expect.poll(async () => (await ask(page)).status).toBe(200);
  const own = await ask(page);
  expect(own.text).toMatch(/"content":.*data: \[DONE\]\n\n$/s);
  expect(own.numReads).toBeGreaterThan(2);

  // A page of the origin that has no engine.
  const other = await context.newPage();
  await other.goto(`${site.url}icon.svg`);
  expect((await ask(other)).text).toMatch(/data: \[DONE\]\n\n$/);
  await page.close();
  await expect.poll(async () => (await ask(other)).status).toBe(503);
  expect((await ask(other)).text).toContain("No open tab answers");

  // The switch outlives the tab, and the app works offline as before.
  const again = await context.newPage();
  await again.goto(`${site.url}?backend=cpu`);
  await new App(again).modelLoaded();
  await expect.poll(async () => (await ask(other)).status).toBe(200);
  await site.switchOff();
  await again.reload();
  await new App(again).modelLoaded();
  await expect.poll(async () => (await ask(again)).status).toBe(200);
  await turn(again, false);
  expect(await ask(again).catch(() => "the host's, which is off")).toBe("the host's, which is off");
  site = await StaticSite.open("dist");
});
