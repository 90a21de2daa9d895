import { expect, test, type Page } from "playwright/test";
import { recordViolations } from "./support/violations.ts";

/** It measures, and so takes as long as the machine takes. */
const MEASURING = { timeout: 800_000 };

/** Presses a button that saves a file, and returns its text. */
async function download(page: Page, button: string): Promise<string> {
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: button }).click();
  const stream = await (await downloading).createReadStream();
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

test("the benchmark page measures, shows and exports its figures; a run can be stopped and started again", async ({
  page,
}) => {
  test.slow();
  await page.goto("./#/bench?backend=webgpu&quick&model=tiny&sections=kernels&outputTokens=4&repeats=1");
  await expect(page.getByRole("checkbox", { name: "Kernels" })).toBeChecked();
  await expect(page.getByRole("checkbox", { name: "Drafts" })).not.toBeChecked();
  const run = page.getByRole("button", { name: "Run" });
  await run.scrollIntoViewIfNeeded();
  // Held, so that it is stopped before it is done.
  let letGo = () => {};
  const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
  await page.route("**/engine.worker*.js", (route) => isLetGo.then(() => route.continue()));
  await run.click();
  const status = page.getByRole("complementary", { name: "What to run" }).getByRole("status");
  await page.getByRole("button", { name: "Stop" }).click();
  letGo();
  await expect(status).toHaveText(/^Stopped/);
  await expect(run).toBeEnabled();
  await run.click();
  await expect(status).toHaveText(/^Done in \d+ s$/, MEASURING);

  const kernels = page.getByRole("region", { name: "Kernels" });
  await expect(kernels.getByRole("table", { name: "Kernels of a decode of 1" })).toContainText("matmul");
  await expect(page.getByRole("complementary")).toContainText("tiny, random weights");

  const result = JSON.parse(await download(page, "JSON"));
  expect(result.sections.map(({ id }: { id: string }) => id)).toEqual(["kernels"]);
  expect(result.environment.adapter).toBeTruthy();
  // The section has no cells.
  await expect(page.getByRole("button", { name: "CSV" })).toBeHidden();
});

test("quick on the CPU: batch sizes, modes, arrivals and drafts, each configuration a row of the CSV", async ({
  page,
}) => {
  test.slow();
  const sections = "batch-size,modes,arrivals,drafts,kernels";
  await page.goto(`./#/bench?backend=cpu&quick&model=tiny&sequences=1,4&repeats=1&sections=${sections}`);
  await page.getByRole("button", { name: "Run" }).click();
  const aside = page.getByRole("complementary", { name: "What to run" });
  await expect(aside.getByRole("status")).toHaveText(/^Done in \d+ s$/, MEASURING);

  await expect(aside).toContainText("Left out, as only a GPU has it: Kernels.");

  const table = (region: string, name: RegExp | string) =>
    page.getByRole("region", { name: region }).getByRole("table", { name });
  const firstCells = (region: string, name: RegExp | string) => table(region, name).locator("tbody th").allInnerTexts();
  expect(await firstCells("Batch size", /^40 requests/)).toEqual(["1", "1", "4", "4"]);
  expect(await firstCells("Arrivals", /^Continuous batching/)).toEqual(["0.5 of it", "all at once"]);
  expect(await firstCells("Arrivals", /^Static batching/)).toEqual(["0", "100", "500"]);
  const drafts = ["off", "n-gram", "draft model"];
  expect(await firstCells("Drafts", /^10 requests/)).toEqual([...drafts, ...drafts]);
  expect(await firstCells("Batching modes", "Wall time and latencies")).toEqual(["4", "4", "4"]);
  await expect(page.getByRole("img", { name: /^Speed-up vs one by one, by batch size/ })).toContainText("ideal");
  await expect(page.getByRole("region", { name: "Batch size" })).toContainText("random tokens");

  const [columns = [], ...rows] = (await download(page, "CSV"))
    .trimEnd()
    .split("\r\n")
    .map((line) => line.split(","));
  const column = (name: string) => rows.map((row) => row[columns.indexOf(name)] ?? "none");
  const times = (count: number, word: string) => Array.from({ length: count }, () => word);
  expect(column("section")).toEqual([
    ...times(4, "batch-size"),
    ...times(3, "modes"),
    ...times(5, "arrivals"),
    ...times(6, "drafts"),
  ]);
  for (const name of ["wall_ms", "p95_e2el_ms", "p50_ttft_ms", "output_tokens_per_s"]) {
    for (const value of column(name)) expect(Number(value), name).toBeGreaterThan(0);
  }
  // No time passes between the tokens that a step with accepted drafts brings.
  for (const value of column("p50_itl_ms").slice(0, -6)) expect(Number(value)).toBeGreaterThan(0);
  // One by one is the measure of its own engine.
  const speedUps = column("speed_up").slice(0, 4);
  expect([speedUps[0], speedUps[2]]).toEqual(["1", "1"]);
  // The model drafts for itself, and is right.
  const acceptance = column("acceptance").slice(-6);
  expect([0, 2, 3, 5].map((i) => acceptance[i])).toEqual(["", "1", "", "1"]);
});

test("one button measures one number: how many times as fast sixteen answers at once are; a link leads to the chats", async ({
  page,
}) => {
  test.slow();
  const violations = await recordViolations(page);
  await page.goto("./#/bench");
  await expect(page.getByRole("button", { name: "Run" }), "the form is behind More").toBeHidden();
  await page.getByText("More", { exact: true }).click();
  await expect(page.getByRole("checkbox", { name: /^Quick/ })).toBeChecked();
  // A model that is done sooner.
  await page.goto("about:blank");
  await page.goto("./#/bench?backend=cpu&model=tiny");
  await page.getByRole("button", { name: "Measure (20 s)" }).click();
  const status = page.getByRole("complementary", { name: "What to run" }).getByRole("status");
  await expect(status).toHaveText(/^Done in \d+ s$/, MEASURING);
  const decode = page.getByRole("region", { name: "Decode" });
  await expect(decode.locator("b").first()).toHaveText(/^[\d.]+ times( \(±\d+%\))?$/);
  await expect(decode).toContainText("the speed of one sequence, with 16 at once");
  const rows = decode.getByRole("table").getByRole("row");
  await expect(rows).toHaveCount(3);
  for (const [i, sequences] of ["1", "16"].entries()) {
    const row = rows.nth(i + 1);
    await expect(row.getByRole("rowheader")).toHaveText(sequences);
    await expect(row.getByRole("cell").first()).toHaveText(/[1-9]/);
  }
  await expect(decode.getByRole("img", { name: "Tokens per second by sequences at once" })).toBeVisible();
  // The benchmark needs nothing that the page's policy forbids.
  expect(await violations()).toEqual([]);

  await page.getByRole("link", { name: "Back to chats" }).click();
  await expect(page.getByRole("region", { name: "Pane 1", exact: true })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("heading", { name: "Benchmark", level: 1 })).toBeVisible();
});
