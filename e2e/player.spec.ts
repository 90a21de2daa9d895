import { readFile } from "node:fs/promises";
import { expect, test } from "playwright/test";
import { App, ON_GPU } from "./support/app.ts";
import { axeFindings } from "./support/axe.ts";
import { beforeTheWorker } from "./support/before-the-worker.ts";

test("without WebGPU and SIMD the example plays: scrub, steps, axe, a phone's width", async ({ page }) => {
  await beforeTheWorker(
    page,
    "Reflect.deleteProperty(WorkerNavigator.prototype, 'gpu'); WebAssembly.validate = () => false;",
  );
  await page.emulateMedia({ reducedMotion: "reduce" });
  await App.open(page, "backend=auto");
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
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect(step).not.toHaveValue("11");
  await page.getByRole("button", { name: "Pause" }).click();
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test("a run is saved, dropped on the chats, played, computed again to the same tokens, and saved as a trace", async ({
  page,
}) => {
  const app = await App.open(page, "max_tokens=12");
  await app.pane(1).ask("Tell me a joke");
  await app.pane(1).finished();
  const answer = await app.pane(1).answer();
  await app.batch.getByRole("button", { name: "More" }).click();
  // On the CPU.
  await expect(
    page.getByRole("menuitem", { name: "Start timing kernels (only on a GPU)", exact: true }),
  ).toBeDisabled();
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "Recording of this run, with the chats' words" }).click(),
  ]);
  const text = await readFile(await saved.path(), "utf8");
  expect(text).toContain("Tell me a joke");
  const dropped = await page.evaluateHandle((content) => {
    const data = new DataTransfer();
    data.items.add(new File([content], "my run.jsonl"));
    return data;
  }, text);
  await page.dispatchEvent("body", "drop", { dataTransfer: dropped });
  await page.getByRole("slider", { name: "Step", exact: true }).press("End");
  const card = page.getByRole("region", { name: "Pane 1, turn 1" });
  expect((await card.getByRole("group").innerText()).trim()).toBe(answer.trim());
  await page.getByRole("button", { name: "Run again" }).click();
  await expect(page.getByText(/^All 12 tokens of 1 answer are the same\./)).toBeVisible();
  const [trace] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as a trace" }).click(),
  ]);
  expect(trace.suggestedFilename()).toBe("my-run-trace.json");
  const { traceEvents } = JSON.parse(await readFile(await trace.path(), "utf8")) as { traceEvents: unknown[] };
  expect(traceEvents.length).toBeGreaterThan(30);
});

test("on a GPU the kernels of some steps are timed on request, and are tracks of the trace", async ({ page }) => {
  const app = await App.open(page, `${ON_GPU}&max_tokens=10`);
  await app.modelLoaded();
  const more = app.batch.getByRole("button", { name: "More" });
  await more.click();
  await page.getByRole("menuitem", { name: "Start timing kernels" }).click();
  await app.pane(1).ask("Tell me a joke");
  await app.pane(1).finished();
  await more.click();
  await expect(page.getByRole("menuitem", { name: "Stop timing kernels" })).toBeEnabled();
  await page.getByRole("menuitem", { name: "Play this run" }).click();
  const [trace] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as a trace" }).click(),
  ]);
  const { traceEvents, otherData } = JSON.parse(await readFile(await trace.path(), "utf8")) as {
    traceEvents: { ph: string; name: string; args: { name: string } }[];
    otherData: { kernels: string };
  };
  expect(otherData.kernels).toMatch(/^timed in [1-9]\d* of \d+ steps$/);
  const tracks = traceEvents.flatMap(({ name, args }) => (name === "thread_name" ? [args.name] : []));
  expect(tracks.filter((name) => name.startsWith("matmul"))).not.toEqual([]);
  expect(traceEvents.some(({ ph, name }) => ph === "X" && name === "layer 0 qkv")).toBe(true);
});
