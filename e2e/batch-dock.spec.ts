// The view of the batch: its parts, and how the keyboard operates them.

import { readFile } from "node:fs/promises";
import { expect, test, type Page } from "playwright/test";
import { App, ENDLESS } from "./support/app.ts";
import { Steps } from "./support/steps.ts";

const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const timelineCursor = (page: Page) => region(page, "Timeline").getByRole("slider", { name: "Step and sequence" });
/** Texts that a highlight marks. */
const marked = (page: Page, name: string) =>
  page.evaluate((highlight) => [...(CSS.highlights.get(highlight) ?? [])].map(String), name);
const timelineRows = (page: Page) => region(page, "Timeline").getByRole("table").getByRole("row");

test("timeline, charts and cache blocks show the answers, also to screen readers; the run is saved, played and computed again", async ({
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  const app = await App.open(page, "temperature=0&max_tokens=40");
  const panes = await app.addPanes(2);
  for (const pane of panes) await pane.message.fill("Tell me a story about a fox.");
  for (const pane of panes) await pane.send.click();
  for (const pane of panes) await pane.finished();

  const rows = timelineRows(page);
  await expect(rows.filter({ hasText: "Pane 1, turn 1" })).toContainText(/finished/);
  await expect(rows.filter({ hasText: "Pane 2, turn 1" })).toContainText(/finished/);
  await expect(region(page, "Timeline").getByRole("button", { name: "Go to Pane 2 turn 1" })).toBeVisible();
  await expect(region(page, "Charts").getByRole("table", { name: "Charts" })).toContainText("now");
  await expect(region(page, "Charts").getByRole("row", { name: /^TTFT/ })).toContainText(/[1-9]/);
  // Their blocks stay cached, with the words in them.
  await expect(region(page, "Cache blocks")).toContainText(/0 in use, [1-9]\d* cached, of \d+/);
  const block = region(page, "Cache blocks").getByRole("slider", { name: "Block" });
  await block.press("ArrowRight");
  await expect(block).toHaveAttribute("aria-valuetext", /^Block 0: cached, free to reuse: “[^”]*story about a fox/);
  await expect(app.figure("Running")).toHaveText(/^0 of \d+$/);
  await expect(app.figure("Step")).toHaveText(/[1-9]/);

  const more = app.batch.getByRole("button", { name: "More" });
  const save = async (press: () => Promise<void>) => {
    const [download] = await Promise.all([page.waitForEvent("download"), press()]);
    return [download.suggestedFilename(), await readFile(await download.path(), "utf8")] as const;
  };
  const saveItem = async (item: string) => {
    await more.click();
    return save(() => page.getByRole("menuitem", { name: item }).click());
  };
  const [runName, run] = await saveItem("Recording of this run, with the chats' words");
  await test.step("the engine's events are saved as JSON lines and its metrics as Prometheus text", async () => {
    expect(runName).toBe("chorus-run.jsonl");
    expect(run).toContain("Tell me a story about a fox.");
    const types = run
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types[0]).toBe("header");
    expect(types).toContain("step");
    expect(types).toContain("request");
    const [metricsName, metrics] = await saveItem("Metrics as Prometheus text");
    expect(metricsName).toBe("chorus-metrics.txt");
    expect(metrics).toMatch(/^vllm:generation_tokens_total.* [1-9]/m);
    // On the CPU.
    await more.click();
    await expect(
      page.getByRole("menuitem", { name: "Start timing kernels (only on a GPU)", exact: true }),
    ).toBeDisabled();
    await page.keyboard.press("Escape");
  });

  await test.step("the saved run is dropped on the chats, played, computed again to the same tokens, and saved as a trace", async () => {
    const answer = await app.pane(1).answer();
    const dropped = await page.evaluateHandle((content) => {
      const data = new DataTransfer();
      data.items.add(new File([content], "my run.jsonl"));
      return data;
    }, run);
    await page.dispatchEvent("body", "drop", { dataTransfer: dropped });
    await page.getByRole("slider", { name: "Step", exact: true }).press("End");
    const card = page.getByRole("region", { name: "Pane 1, turn 1" });
    expect((await card.getByRole("group").innerText()).trim()).toBe(answer.trim());
    await page.getByRole("button", { name: "Run again" }).click();
    await expect(page.getByText(/^All \d+ tokens of 2 answers are the same\./)).toBeVisible();
    const [traceName, trace] = await save(() => page.getByRole("button", { name: "Save as a trace" }).click());
    expect(traceName).toBe("my-run-trace.json");
    const { traceEvents } = JSON.parse(trace) as { traceEvents: unknown[] };
    expect(traceEvents.length).toBeGreaterThan(30);
  });
});

test("sixteen rows are in view with the tokens of each step below them", async ({ page }) => {
  const app = await App.openFake(page, "panes=16&stepms=20&max_tokens=10");
  const boxes = new Map<number, Awaited<ReturnType<typeof app.batch.boundingBox>>>();
  const sizes = [
    { width: 1440, height: 900 },
    { width: 1366, height: 768 },
  ];
  for (const size of sizes) {
    await page.setViewportSize(size);
    await app.listens();
    boxes.set(size.width, await app.batch.boundingBox());
  }
  await page.getByRole("button", { name: "Send to all" }).click();
  await page.getByRole("dialog", { name: "Send to all" }).getByRole("textbox").fill("Why does bread rise?");
  await page.keyboard.press("Enter");
  await expect(timelineRows(page).filter({ hasText: "Pane 16, turn 1" })).toContainText(/token|finished/);
  const lowest = region(page, "Timeline").getByRole("listitem").filter({ hasText: "per step" });
  for (const size of sizes) {
    await page.setViewportSize(size);
    await app.listens();
    await expect(lowest).toBeInViewport({ ratio: 1 });
    const minimap = await region(page, "Timeline").getByRole("slider", { name: "Part of the timeline" }).boundingBox();
    const { y, height } = (await lowest.boundingBox())!;
    expect(y + height).toBeLessThanOrEqual(minimap!.y);
    expect(await app.batch.boundingBox(), "the batch grows with its rows").toEqual(boxes.get(size.width));
  }
});

test("static and sequential take effect while answers grow, and no answer loses a word", async ({ page }) => {
  // So hot, and with this seed, that both answers reach the limit.
  const app = await App.open(page, "temperature=2&top_p=1&top_k=0&seed=7&max_tokens=60");
  const [first, second, quiet] = await app.addPanes(3);
  const modes = page.getByRole("radiogroup", { name: "Batching" });
  await expect(modes.getByRole("radio", { name: "Continuous" })).toBeChecked();

  const steps = await Steps.hold(page);
  await first!.ask("Tell me a story about a fox.");
  await second!.ask("Write a poem about the sea.");
  for (const pane of [first!, second!]) await steps.allowUntil(async () => /\w+ \w+/.test(await pane.answer()));
  await expect(app.figure("Running")).toHaveText(/^2 of \d+$/);
  await modes.getByRole("radio", { name: "Sequential" }).check();
  await steps.allowUntil(async () => (await app.figure("Preemptions").innerText()) === "1");
  await expect(app.figure("Running")).toHaveText(/^1 of \d+$/);
  await expect(app.figure("Waiting")).toHaveText("1");
  await modes.getByRole("radio", { name: "Sequential" }).press("ArrowLeft");
  await expect(modes.getByRole("radio", { name: "Static" })).toBeChecked();
  await steps.release();
  await first!.finished();
  await second!.finished();
  await quiet!.ask("Write a poem about the sea.");
  await quiet!.finished();
  expect(await second!.answer()).toBe(await quiet!.answer());
});

test("words and cells are linked, and the timeline is read with keys", async ({ page }) => {
  const app = await App.openFake(page, "panes=2&stepms=5&ask=What is the capital of France?");
  const first = app.pane(1);
  const cursor = timelineCursor(page);
  await test.step("each marks the other, and a cell names what it made and who shared its step", async () => {
    await app.pane(1).finished();
    await app.pane(2).finished();
    await cursor.press("End");
    await cursor.press("ArrowLeft");
    await expect(cursor).toHaveAttribute(
      "aria-valuetext",
      /^Pane 1, turn 1\. Step \d+, 6\.0 ms: “␣\S+” 50\.0%, decode, token \d+, shared with Pane 2$/,
    );
    const word = /“␣(\S+)”/.exec((await cursor.getAttribute("aria-valuetext")) ?? "")?.[1];
    await expect.poll(() => marked(page, "token")).toEqual([` ${word}`]);
    await expect(app.pane(1).turn.locator("[data-answer]")).toContainText(`${word}`);
    await cursor.press("Escape");
    await expect.poll(() => marked(page, "token")).toEqual([]);

    // The other way round: on the answer's first word.
    await app
      .pane(2)
      .turn.locator("[data-answer]")
      .hover({ position: { x: 8, y: 12 } });
    await expect(region(page, "Timeline").getByText("Pane 2, turn 1: prompt")).toBeVisible();
    await expect.poll(() => marked(page, "pointed")).toEqual(["The"]);
    // Keys go on working beside the card.
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("dialog")).toBeVisible();
    await page.keyboard.press("Escape");
    await page.mouse.move(0, 0);
    await expect(region(page, "Timeline").getByText("Pane 2, turn 1: prompt")).toBeHidden();

    await region(page, "Charts").getByRole("slider", { name: "Tokens per second" }).press("ArrowLeft");
    await expect(region(page, "Charts").getByText(/^Now: [\d.]+ tokens per second/)).toBeVisible();
  });

  await test.step("the timeline is read with keys: a cursor, pause, and the way to a pane", async () => {
    await cursor.focus();
    await cursor.press("ArrowLeft");
    await expect(cursor).toHaveAttribute("aria-valuetext", /Pane 1, turn 1. Step \d+: finished/);
    await cursor.press("ArrowLeft");
    await expect(cursor).toHaveAttribute("aria-valuetext", /decode/);
    await cursor.press(" ");
    const pause = page.getByRole("button", { name: "Pause the timeline" });
    await expect(pause).toHaveAttribute("aria-pressed", "true");
    await pause.click();
    await expect(pause).toHaveAttribute("aria-pressed", "false");
    await cursor.focus();
    await cursor.press("ArrowLeft");
    await cursor.press("Enter");
    await expect(first.message).toBeFocused();
  });
});

test("drag and wheel move the timeline, as its rows need no scrolling; on a phone the batch is the last tab, and a strip that opens it", async ({
  page,
}) => {
  const app = await App.openFake(page, "stepms=2&paragraphs=4");
  await app.pane(1).ask("And then?");
  await app.pane(1).finished();
  const expectToMove = async () => {
    const timeline = timelineCursor(page);
    const scroller = timeline.locator("xpath=ancestor::*[@data-scrolls]");
    expect(await scroller.evaluate((element) => element.scrollHeight - element.clientHeight)).toBe(0);
    const part = region(page, "Timeline").getByRole("slider", { name: "Part of the timeline" });
    /** Steps that have gone by since the last one in view. */
    const stepsBehind = async () => {
      const words = await part.getAttribute("aria-valuetext");
      const [, last, all] = /^Steps \d+ to (\d+) of (\d+)$/.exec(words ?? "") ?? [];
      return Number(all) - Number(last);
    };
    await expect(part).toHaveAttribute("aria-valuetext", /^Steps (?:[2-9]\d|\d{3}) to /);
    await expect.poll(stepsBehind).toBe(0);

    const { x, y } = (await timeline.boundingBox())!;
    await page.mouse.move(x + 20, y + 30);
    await page.mouse.wheel(0, -90);
    await expect.poll(stepsBehind).toBeGreaterThan(5);
    const turned = await stepsBehind();
    await page.mouse.down();
    await page.mouse.move(x + 65, y + 30, { steps: 3 });
    await page.mouse.up();
    await expect.poll(stepsBehind).toBeGreaterThan(turned);
    // What is drawn has moved with it: a second key goes on from there.
    const dragged = await stepsBehind();
    await part.press("ArrowLeft");
    await part.press("ArrowLeft");
    await expect.poll(stepsBehind).toBeGreaterThan(dragged + 10);
  };
  await test.step("at 1440 px", expectToMove);

  await test.step("at 390 px", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Open Batch" }).click();
    const tab = page.getByRole("tab", { name: "Batch" });
    await expect(tab).toHaveAttribute("aria-selected", "true");
    for (const name of ["Timeline", "Charts", "Cache blocks"]) await expect(region(page, name)).toBeVisible();
    await expect(app.pane(1).region).toBeHidden();
    // It shows the newest steps again.
    await region(page, "Timeline").getByRole("slider", { name: "Part of the timeline" }).press("End");
    await expectToMove();
    await tab.press("ArrowRight");
    await expect(page.getByRole("tab", { name: "Pane 1:" })).toBeFocused();
    await expect(app.pane(1).region).toBeVisible();
    await expect(app.batch).toBeHidden();
  });
});

test("the dock waits for a cell to come, closes to one line and can be resized, which is remembered, and opens in a low window once", async ({
  page,
}) => {
  const app = await App.openFake(page, `stepms=60&${ENDLESS}`);
  const timeline = region(page, "Timeline");
  await test.step("a cell that the cursor waits on is linked when its step comes, and so is a block of the cache", async () => {
    const cursor = timelineCursor(page);
    // In the first paragraph: at the beginning of the next ones a word has no space before it.
    await app.modelLoaded();
    await app.steps(0);
    await app.pane(1).ask("Tell me a story about a fox.");
    const lines = async () => {
      await app.steps(1);
      return region(page, "Timeline").innerText();
    };
    await expect.poll(lines).toContain("Pane 1");
    // A step that is still to come.
    await cursor.press("End");
    await app.steps(2);
    await expect(cursor).toHaveAttribute("aria-valuetext", /“␣\S+” [\d.]+%, decode/);
    const word = /“␣(\S+)”/.exec((await cursor.getAttribute("aria-valuetext")) ?? "")?.[1];
    await expect.poll(() => marked(page, "token")).toEqual([` ${word}`]);

    // A word under the mouse goes first, whatever step comes, and the cursor's cell again after it. Steps by themselves would
    // move other words under the mouse.
    await app
      .pane(1)
      .turn.locator("[data-answer]")
      .hover({ position: { x: 8, y: 12 } });
    await expect.poll(async () => (await marked(page, "pointed")).join()).toMatch(/\w/);
    const tokens = () =>
      app
        .pane(1)
        .answer()
        .then((answer) => answer.split(" ").length);
    const before = await tokens();
    await app.steps(5);
    await expect.poll(tokens).toBeGreaterThan(before + 3);
    expect((await marked(page, "pointed")).join()).toMatch(/\w/);
    expect(await marked(page, "token")).toEqual([]);
    await page.mouse.move(0, 0);
    await expect.poll(() => marked(page, "token")).toEqual([` ${word}`]);
    await cursor.press("Escape");
    await app.steps(Infinity);

    // So a block of the cache marks its words in their text.
    await expect(region(page, "Cache blocks")).toContainText(/(?:[2-9]|\d\d) in use/);
    const block = region(page, "Cache blocks").getByRole("slider", { name: "Block" });
    await block.press("ArrowRight");
    await block.press("ArrowRight");
    await expect(block).toHaveAttribute("aria-valuetext", /^Block 1: Pane 1, turn 1, \d+ of 16 tokens: “word16 /);
    await expect.poll(async () => (await marked(page, "token")).join()).toMatch(/\w/);
    const [text = ""] = await marked(page, "token");
    expect(await app.pane(1).answer()).toContain(text);
  });

  await test.step("it closes to one line and can be resized; both are remembered", async () => {
    const handle = page.getByRole("separator", { name: "Height of Batch" });
    await expect(handle).toHaveAttribute("aria-valuenow", /^2/);
    const before = Number(await handle.getAttribute("aria-valuenow"));
    await handle.press("PageUp");
    await expect(handle).toHaveAttribute("aria-valuenow", `${before + 80}`);
    await page.reload();
    await expect(handle).toHaveAttribute("aria-valuenow", `${before + 80}`);

    await page.getByRole("button", { name: "Collapse Batch" }).click();
    await expect(timeline).toBeHidden();
    const open = page.getByRole("button", { name: "Expand Batch: who shares each step" });
    await expect(open).toBeFocused();
    await page.reload();
    await expect(open).toHaveAttribute("aria-expanded", "false");
    await app.pane(1).ask("Go on and on.");
    await expect(app.batch).toContainText(/Who shares each step\s*1 answer, [\d.]+ tokens\/s in all/);
    await open.press("Enter");
    await expect(timeline).toBeVisible();
    await expect(page.getByRole("button", { name: "Collapse Batch" })).toBeFocused();
  });

  await test.step("in a low window it opens with the second pane or the demo, once", async () => {
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await expect(page.getByRole("button", { name: "Expand Batch" })).toBeVisible();
    await expect(timeline).toBeHidden();
    // All that a first visit offers is in view.
    await expect(page.getByRole("button", { name: "Ask all four at once" })).toBeInViewport({ ratio: 1 });
    await app.addPanes(2);
    await expect(timeline).toBeInViewport();
    await page.getByRole("button", { name: "Collapse Batch" }).click();
    await page.getByRole("button", { name: "Add pane" }).click();
    await page.getByRole("link", { name: "Demo", exact: true }).click();
    await expect(page.getByRole("button", { name: "Expand Batch" })).toBeVisible();
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await expect(timeline, "the demo opens it for those who chose nothing").toBeInViewport();
  });
});
