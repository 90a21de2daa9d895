// The app's first word, as the benchmarks measure it.

import { expect, test } from "playwright/test";
import { firstWordMs } from "../lab/runs/first-word.ts";
import { App } from "./support/app.ts";

test("the first word is the answer's: while the model is held back, only the question is there", async ({
  page,
  baseURL,
}) => {
  const letGo = await App.holdModel(page);
  let ms: number | null = null;
  const measuring = firstWordMs(page, `${baseURL}?backend=cpu`).then((measured) => (ms = measured));
  const pane = new App(page).pane(1);
  await expect(pane.turn).toContainText("What is the capital of France?");
  const heldMs = 500;
  await page.waitForTimeout(heldMs);
  expect(ms).toBeNull();
  letGo();
  expect(await measuring).toBeGreaterThan(heldMs);
  await expect(pane.turn.locator("[data-answer]")).toHaveText(/\w/);
});
