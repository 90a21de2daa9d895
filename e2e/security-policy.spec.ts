// The built page's Content-Security-Policy: it forbids what an attacker would do, and nothing that the app does.

import { expect, test } from "playwright/test";
import { App } from "./support/app.ts";
import { readHeaders } from "./support/hosting-headers.ts";
import { StaticSite } from "./support/static-site.ts";
import { recordViolations } from "./support/violations.ts";

test.use({ serviceWorkers: "allow" });

// The benchmark: bench.spec.ts. PDFs: files.spec.ts.
test("models, schemas and Markdown need nothing that it forbids; neither scripts nor styles nor frames can be smuggled in", async ({
  page,
}) => {
  const violations = await recordViolations(page);
  const app = await App.open(page, "max_tokens=12");
  await app.modelLoaded();
  const settings = await app.openSettings("of pane 1");
  await settings.getByRole("textbox", { name: "Answer in JSON" }).fill('{"type": "boolean"}');
  await page.keyboard.press("Escape");
  await app.pane(1).ask("Is it so?");
  await app.pane(1).finished();
  expect(await app.pane(1).answer()).toMatch(/^(true|false)/);
  expect(await violations()).toEqual([]);

  const fake = await App.openFake(page, "stepms=5");
  await fake.pane(1).ask("What is the capital of France?");
  await fake.pane(1).finished();
  expect(await violations()).toEqual([]);

  await test.step("smuggling", async () => {
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'smuggled'";
      const remote = document.createElement("script");
      remote.src = "https://attacker.example/x.js";
      const frame = document.createElement("iframe");
      frame.src = "https://attacker.example/";
      const base = document.createElement("base");
      base.href = "https://attacker.example/";
      const button = document.createElement("button");
      button.setAttribute("onclick", "document.title = 'smuggled'");
      document.body.append(script, remote, frame, base, button);
      button.click();
    });
    await expect
      .poll(violations)
      .toEqual(
        expect.arrayContaining([
          "script-src-elem inline",
          "script-src-elem https://attacker.example/x.js",
          "frame-src https://attacker.example",
          "base-uri https://attacker.example/",
          "script-src-attr inline",
        ]),
      );
    await expect(page).not.toHaveTitle("smuggled");
  });
});

test("with the headers that docs/hosting.md gives, a page has threads at once, and neither app nor documents are refused", async ({
  page,
}) => {
  const site = await StaticSite.open("dist", readHeaders("docs/hosting/_headers"));
  const said: string[] = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", ({ message }) => said.push(message));
  const violations = await recordViolations(page);
  try {
    await page.goto(`${site.url}?temperature=0&max_tokens=8`);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    const pane = new App(page).pane(1);
    await pane.ask("What is the capital of France?");
    await pane.finished();
    expect(await pane.answer()).toMatch(/\w/);
    expect(await violations()).toEqual([]);
    await page.goto(`${site.url}#/docs/`);
    await page.getByRole("link", { name: "How it works" }).click();
    await expect(page.getByRole("heading", { name: "How it works" })).toBeFocused();
    await expect(page.getByRole("img").first()).toHaveJSProperty("complete", true);
    expect(await violations()).toEqual([]);
    expect(said).toEqual([]);
  } finally {
    await site.switchOff();
  }
});
