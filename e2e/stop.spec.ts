import { expect, test } from "playwright/test";
import { App } from "./support/app.ts";
import { Steps } from "./support/steps.ts";

test("Stop ends one pane's answer, keeps its text, and leaves the other pane alone", async ({ page }) => {
  const app = await App.open(page, "temperature=0");
  const [first, second] = await app.addPanes(2);
  const steps = await Steps.hold(page);
  await first!.ask("Tell me a story about a fox.");
  await second!.ask("Tell me a story about a robot.");
  await steps.allow(12);
  await expect.poll(() => first!.answer()).toMatch(/\w+ \w+/);
  await expect.poll(() => second!.answer()).toMatch(/\w+ \w+/);

  await first!.stop.click();
  await expect(first!.ending).toHaveText("Stopped");
  const stopped = await first!.answer();
  await steps.release();
  await expect(second!.ending).toHaveText(/^(Finished|Reached the length limit)$/);
  expect((await second!.answer()).length).toBeGreaterThan(stopped.length);
  expect(await first!.answer()).toBe(stopped);

  // The pane can be asked again. (The answer depends on where its story was stopped.)
  await first!.ask("What is the capital of France?");
  await first!.finished();
  expect(await first!.answer()).toMatch(/\w/);
});
