import { readFile } from "node:fs/promises";
import { expect, test } from "playwright/test";
import { App, ENDLESS, ON_GPU } from "./support/app.ts";
import { Steps } from "./support/steps.ts";

test("on a GPU an answer streams, its kernels are timed on request, and what computes can be changed", async ({
  page,
}) => {
  const sendModel = await App.holdModel(page);
  const app = await App.open(page, `${ON_GPU}&temperature=0&max_tokens=48`);
  const pane = app.pane(1);
  const steps = await Steps.hold(page, "now");
  await test.step("a question that is asked before the model is loaded waits for it", async () => {
    await pane.ask("Tell me a story about a fox.");
    await expect(pane.stop).toBeVisible();
    sendModel();
  });

  await test.step("the answer's text grows before it has ended", async () => {
    const length = async () => (await pane.answer()).length;
    for (let seen = 0, times = 0; times < 4; times++) {
      // First of all the known answers are computed.
      await steps.allowUntil(async () => (await length()) > seen);
      seen = await length();
      await expect(pane.stop).toBeVisible();
    }
    await steps.release();
    await pane.finished();
    expect(await pane.answer()).toContain("fox");
    await expect(pane.region).toContainText(/[1-9]\S* tok\/s/);
    await expect(pane.region).toContainText(/TTFT [1-9]\S* ms/);
    await expect(pane.region).toContainText(/[1-9]\d* tokens/);
    await expect(page.getByText(/\(software\)/)).toBeVisible();
  });

  await test.step("the kernels of some steps are timed on request, and are tracks of the trace", async () => {
    const more = app.batch.getByRole("button", { name: "More" });
    await more.click();
    await page.getByRole("menuitem", { name: "Start timing kernels" }).click();
    await pane.ask("Tell me a joke");
    await pane.finished();
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
    await page.getByRole("link", { name: "Back to chats" }).click();
  });

  await test.step("what computes can be changed, and the answer stays", async () => {
    const answer = await pane.answer();
    // The GPU is a software adapter here, so the CPU is faster.
    await page.getByLabel("Runs on").selectOption("auto");
    await expect(page.getByText(/^CPU, \d+ threads?$/)).toBeVisible();
    expect(await pane.answer()).toBe(answer);
  });
});

test("the embedded model chats: it remembers, is stopped, and a message longer than its context is refused", async ({
  page,
}) => {
  const app = await App.open(page, "temperature=0");
  const [first, second] = [app.pane(1), app.pane(2)];

  await test.step("a second question is answered in the light of the first", async () => {
    await first.ask("My name is Anna.");
    await first.finished();
    await first.ask("What is my name?");
    await first.finished();
    await expect(first.log).toContainText("My name is Anna.");
    expect(await first.answer()).toContain("Anna");
  });

  await app.addPanes(2);
  let steps = await Steps.hold(page);
  await test.step("Stop ends one pane's answer, keeps its text, and leaves the other pane alone", async () => {
    await first.ask("Tell me a story about a fox.");
    await second.ask("Tell me a story about a robot.");
    for (const pane of [first, second]) await steps.allowUntil(async () => /\w+ \w+/.test(await pane.answer()));

    await first.stop.click();
    await expect(first.ending).toHaveText("Stopped");
    const stopped = await first.answer();
    await steps.release();
    await expect(second.ending).toHaveText(/^(Finished|Reached the length limit)$/);
    expect((await second.answer()).length).toBeGreaterThan(stopped.length);
    expect(await first.answer()).toBe(stopped);

    // The pane can be asked again. (The answer depends on where its story was stopped.)
    await first.ask("What is the capital of France?");
    await first.finished();
    expect(await first.answer()).toMatch(/\w/);
  });

  await page.getByRole("button", { name: "New chat" }).click();
  steps = await Steps.hold(page);
  await test.step("a message longer than the context gets an error in its pane while another pane continues", async () => {
    await second.ask("Tell me a story about a fox.");
    await steps.allowUntil(async () => (await second.answer()) !== "");

    const tooLong = "a long sentence about the sea ".repeat(100);
    await first.ask(tooLong);
    await expect(first.region).toContainText(/too long/i);
    await expect(first.region).toContainText("512"); // the embedded model's context
    await expect(second.region).not.toContainText(/too long/i);
    // Nothing is lost: the message is back in the box.
    await expect(first.message).toHaveValue(tooLong.trim());

    await expect(second.stop).toBeVisible();
    await steps.release();
    await second.finished();
    await first.ask("What is the capital of France?");
    await first.finished();
    expect(await first.answer()).toContain("Paris");
  });
});

test("one message goes to all panes at once, from a sheet that closes without losing it, and stops no answer", async ({
  page,
}) => {
  const app = await App.openFake(page, `${ENDLESS}&stepms=20`);
  const panes = await app.addPanes(3);
  const button = page.getByRole("button", { name: "Send to all" });
  const sheet = page.getByRole("dialog", { name: "Send to all" });
  const message = sheet.getByRole("textbox", { name: "Message" });

  await test.step("Enter sends to the panes that are ticked", async () => {
    await button.click();
    const ticked = sheet.getByRole("checkbox", { checked: true });
    await sheet.getByRole("button", { name: "None" }).click();
    await expect(ticked).toHaveCount(0);
    await sheet.getByRole("button", { name: "All", exact: true }).click();
    await expect(ticked).toHaveCount(3);
    await message.fill("What is the capital of France?");
    await message.press("Enter");
    for (const pane of panes) {
      await pane.finished();
      expect(await pane.answer()).toContain("Paris");
    }
  });

  await test.step("the sheet closes without losing the message, and stops no answer", async () => {
    await app.pane(1).ask("Why?");
    await expect(app.pane(1).stop).toBeVisible();
    await button.click();
    await message.fill("And why not?");
    await page.keyboard.press("Escape");
    await expect(sheet).toBeHidden();
    await expect(button).toBeFocused();
    await button.press("Enter");
    await expect(message).toBeFocused();
    await expect(message).toHaveValue("And why not?");
    await button.click();
    await expect(sheet).toBeHidden();
    await button.click();
    await sheet.getByRole("button", { name: "Send" }).focus();
    await page.keyboard.press("Tab");
    await expect(sheet).toBeHidden();
    await expect(app.pane(1).stop).toBeVisible();
  });
});

test("an answer's figures show on request; a thought is seen while it grows, and folded when it is over", async ({
  page,
}) => {
  const app = await App.openFake(page, "panes=2&stepms=20&context=1000000");
  const [pane, over] = [app.pane(1), app.pane(2)];
  await test.step("figures, on a desktop and on a phone", async () => {
    for (const viewport of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(viewport);
      await pane.ask("What is the capital of France?");
      await pane.finished();
      const button = pane.turn.getByRole("button", { name: "Figures" });
      const figures = pane.turn.locator("dl");
      await expect(button).toHaveAttribute("aria-expanded", "false");
      await expect(figures).toBeHidden();
      await button.press("Enter");
      await expect(button).toHaveAttribute("aria-expanded", "true");
      await expect(figures).toBeInViewport({ ratio: 1 });
      await expect(figures).toContainText("First token97 ms");
      await expect(figures).toContainText("Batch5.2, at most 8");
      await expect(figures).toContainText("51 of 80, 64%");
      await button.press("Enter");
      await expect(figures).toBeHidden();
      await expect(pane.message).toBeVisible();
    }
  });

  await test.step("a thought opens again", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await pane.ask("Think without end.");
    await expect(pane.turn.getByText("Hm. Hm. Hm.")).toBeVisible();
    await pane.turn.getByText("Thinking…").click();
    await expect(pane.turn.getByText("Hm. Hm. Hm.")).toBeHidden();

    await over.ask("What is six times seven?");
    await expect(over.turn).toContainText("It is 42.");
    await expect(over.turn.getByText("Six sevens are wanted.")).toBeHidden();
    await over.turn.getByText("Thoughts").click();
    await expect(over.turn.getByText("Six sevens are wanted.")).toBeVisible();
  });
});
