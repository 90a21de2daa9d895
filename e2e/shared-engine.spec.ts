// Two pages share an engine in a shared worker; one is closed in mid-answer.

import { expect, test, type Page } from "playwright/test";
import { openBarePage } from "./support/library.ts";

const join = (page: Page) =>
  page.evaluateHandle(async () => {
    const library = new URL("./lib/chorus.js", location.href).href;
    const { createEngine } = (await import(library)) as typeof import("../src/index.ts");
    return createEngine({ backend: "cpu", worker: "shared", model: "models/chorus-chat/" });
  });

test("pages share one engine, whoever leaves", async ({ page, context }) => {
  await openBarePage(page);
  const other = await context.newPage();
  await openBarePage(other);
  const [a, b] = [await join(page), await join(other)];
  const running = () => b.evaluate(async (engine) => (await engine.stats()).num_requests_running);
  void a.evaluate((engine) => void engine.completions.create({ prompt: "Once", max_tokens: 300, ignore_eos: true }));
  await expect.poll(running).toBe(1);
  await page.close();
  await expect.poll(running).toBe(0);
  const text = await b.evaluate(async (engine) => {
    const { choices } = await engine.completions.create({ prompt: "Once upon", temperature: 0 });
    return choices[0]?.text;
  });
  expect(text).toMatch(/\w/);
});
