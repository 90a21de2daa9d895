// The worker may be ended at any time: by the browser, for its memory, or by hand.

import { expect, test, type Page } from "playwright/test";
import { App } from "./support/app.ts";
import { createEngine, openBarePage } from "./support/library.ts";
import { engineWorker, Steps } from "./support/steps.ts";

async function endWorker(page: Page): Promise<void> {
  const worker = await engineWorker(page);
  const closed = worker.waitForEvent("close");
  // The call itself gets no answer from a dead worker.
  void worker.evaluate(() => self.close()).catch(() => undefined);
  await closed;
}

test("when the worker dies, open and later calls are rejected, and a new engine can be created", async ({ page }) => {
  await openBarePage(page);
  const engine = await createEngine(page);
  await Steps.hold(page, "now");
  const pending = engine.evaluate(async (engine) => {
    const codes: (string | undefined)[] = [];
    engine.on("fatal", ({ code }) => codes.push(code));
    const body = { prompt: "Once", ignore_eos: true, max_tokens: 250 };
    for (const call of [() => engine.completions.create(body), () => engine.stats()]) {
      await call().catch((error: { code?: string }) => codes.push(error.code));
    }
    return codes;
  });
  const running = () => engine.evaluate(async (engine) => (await engine.stats()).num_requests_running);
  await expect.poll(running).toBe(1);
  await endWorker(page);
  expect((await pending).toSorted()).toEqual(["worker_died", "worker_died", "worker_died"]);

  const another = await createEngine(page);
  const text = await another.evaluate(async (fresh) => {
    const { choices } = await fresh.completions.create({ prompt: "Once upon", temperature: 0 });
    return choices[0]?.text;
  });
  expect(text).toMatch(/\w/);
});

test("the app keeps its chats and restarts by itself; after repeated failures, when asked to", async ({ page }) => {
  const app = await App.open(page, "temperature=0");
  const pane = app.pane(1);
  const askForStory = async (question: string) => {
    const steps = await Steps.hold(page);
    await pane.ask(question);
    await steps.allowUntil(async () => /\w+ \w+/.test(await pane.answer()));
  };
  await app.modelLoaded();
  await askForStory("Tell me a story about a fox.");
  // Held, so that the stopped state can be seen.
  const sendModel = await App.holdModel(page);
  await endWorker(page);

  await expect(page.getByText("It restarts by itself.")).toBeVisible();
  sendModel();
  expect(await pane.answer()).toMatch(/\w+ \w+/);
  await pane.ask("What is the capital of France?");
  await pane.finished();
  // The answer depends on where its story was stopped.
  expect(await pane.answer()).toMatch(/\w/);

  await askForStory("Tell me a story about a robot.");
  await endWorker(page);
  await expect(pane.region).toContainText("The engine stopped");
  await pane.region.getByRole("button", { name: "Start again" }).click();
  await pane.ask("What is the capital of France?");
  await pane.finished();
});
