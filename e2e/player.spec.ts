// A recording is played. That of a run of one's own: batch-dock.spec.ts.

import { expect, test } from "playwright/test";
import { App } from "./support/app.ts";
import { axeFindings, axeFindingsInLooks } from "./support/axe.ts";
import { beforeTheWorker, NO_WEBGPU } from "./support/before-the-worker.ts";

test("a browser with neither a GPU nor SIMD says so, downloads no model, and plays the example: scrub, steps, a phone's width; axe finds nothing", async ({
  page,
}) => {
  await beforeTheWorker(page, `${NO_WEBGPU} WebAssembly.validate = () => false;`);
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await page.emulateMedia({ reducedMotion: "reduce" });
  await App.open(page, "backend=auto");
  await expect(page.getByRole("heading", { name: "can't run a model" })).toBeVisible();
  await expect(page.getByRole("main")).toContainText("SIMD");
  expect(await axeFindingsInLooks(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });

  await page.getByRole("link", { name: "Play a recording instead" }).click();
  await page.getByRole("button", { name: "Play the example" }).click();
  const step = page.getByRole("slider", { name: "Step", exact: true });
  await expect(step).toHaveValue("0"); // with reduced motion nothing plays by itself
  await page.keyboard.press("ArrowRight");
  await expect(step).toHaveValue("1");
  await step.press("End");
  const first = page.getByRole("region", { name: "Pane 1, turn 1" });
  await expect(first).toContainText("tokens, ");
  const whole = await first.getByRole("group").innerText();
  expect(whole.length).toBeGreaterThan(40);
  await step.press("Home");
  for (let i = 0; i < 12; i++) await page.getByRole("button", { name: "Step forward" }).click();
  await page.getByRole("button", { name: "Step back" }).click();
  await expect(step).toHaveAttribute("aria-valuetext", /^Step 11 of \d+, /);
  await page.keyboard.press("ArrowRight"); // the button that has the focus has no use for it
  await expect(step).toHaveValue("12");
  await page.keyboard.press("ArrowLeft");
  await expect(step).toHaveValue("11");
  // Nor has an answer, which scrolls only up and down; the speed's list has, and Shift selects text.
  await first.getByRole("group").click();
  await page.keyboard.press("ArrowRight");
  await expect(step).toHaveValue("12");
  await page.keyboard.press("Shift+ArrowRight");
  await expect(step).toHaveValue("12");
  await page.keyboard.press("ArrowLeft");
  await expect(step).toHaveValue("11");
  const speed = page.getByRole("combobox", { name: "Speed" });
  const before = await speed.inputValue();
  await speed.focus();
  await page.keyboard.press("ArrowRight"); // it is the lowest
  await expect(speed).not.toHaveValue(before);
  await expect(step).toHaveValue("11");
  const part = await first.getByRole("group").innerText();
  expect(whole.startsWith(part)).toBe(true);
  expect(part.length).toBeLessThan(whole.length);
  await expect(page.getByRole("region", { name: "Batch" }).getByRole("definition").last()).toHaveText(/^\d/);
  expect(await axeFindings(page)).toEqual([]);
  // By the page's clock, which a busy machine does not hurry: the end would pause it.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.clock.runFor(1000);
  await expect(step).not.toHaveValue("11");
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByRole("button", { name: "Play", exact: true })).toBeVisible();
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(requested.filter((url) => url.endsWith(".safetensors"))).toEqual([]);
});
