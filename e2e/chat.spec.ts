import { expect, test } from "playwright/test";
import { App } from "./support/app.ts";

test("a question streams an answer: its text grows before it has ended", async ({ page }) => {
  const app = await App.open(page, "temperature=0");
  const pane = app.pane(1);
  // Asked before the model is loaded: the question waits.
  await pane.ask("Tell me a story about a fox.");

  const lengths = new Set<number>();
  await expect(pane.stop).toBeVisible();
  while (await pane.stop.isVisible()) {
    lengths.add((await pane.answer()).length);
    await page.waitForTimeout(50);
  }
  expect([...lengths].filter((length) => length > 0).length).toBeGreaterThan(3);
  expect(await pane.answer()).toContain("fox");
  await expect(pane.region).toContainText(/[1-9]\S* tok\/s/);
  await expect(pane.region).toContainText(/TTFT [1-9]\S* ms/);
  await expect(pane.region).toContainText(/[1-9]\d* tokens/);
});

test("a second question is answered in the light of the first", async ({ page }) => {
  const app = await App.open(page, "temperature=0");
  const pane = app.pane(1);
  await pane.ask("My name is Anna.");
  await pane.finished();
  await pane.ask("What is my name?");
  await pane.finished();
  await expect(pane.log).toContainText("My name is Anna.");
  expect(await pane.answer()).toContain("Anna");
});

test("Enter sends; one message goes to all panes at once", async ({ page }) => {
  const app = await App.open(page, "temperature=0");
  const panes = await app.addPanes(3);
  await page.getByRole("button", { name: "Send to all" }).click();
  const sheet = page.getByRole("dialog", { name: "Send to all" });
  await sheet.getByRole("textbox", { name: "Message" }).fill("What is the capital of France?");
  await sheet.getByRole("textbox", { name: "Message" }).press("Enter");
  for (const pane of panes) {
    await pane.finished();
    expect(await pane.answer()).toContain("Paris");
  }
});
