import { expect, test } from "playwright/test";
import { App } from "./support/app.ts";
import { Steps } from "./support/steps.ts";

test("a message longer than the context gets an error in its pane while another pane continues", async ({ page }) => {
  const app = await App.open(page, "temperature=0&max_tokens=24");
  const [first, second] = await app.addPanes(2);
  const steps = await Steps.hold(page);
  await second!.ask("Tell me a story about a fox.");
  await steps.allow(4);
  await expect.poll(() => second!.answer()).not.toBe("");

  const tooLong = "a long sentence about the sea ".repeat(100);
  await first!.ask(tooLong);
  await expect(first!.region).toContainText(/too long/i);
  await expect(first!.region).toContainText("512"); // the embedded model's context
  await expect(second!.region).not.toContainText(/too long/i);
  // Nothing is lost: the message is back in the box.
  await expect(first!.message).toHaveValue(tooLong.trim());

  await expect(second!.stop).toBeVisible();
  await steps.release();
  await second!.finished();
  await first!.ask("What is the capital of France?");
  await first!.finished();
  expect(await first!.answer()).toContain("Paris");
});

test("a conversation that outgrows the context continues without its oldest turns, and says so", async ({ page }) => {
  const app = await App.openFake(page, "context=512&max_tokens=12&stepms=5");
  const pane = app.pane(1);
  // Four questions of some hundred and fifty tokens: too much for 512, however short the answers are.
  for (let turn = 1; turn <= 4; turn++) {
    await pane.ask(
      `Tell me a story. ${"The fox and the robot live by the sea. ".repeat(16)}This is story number ${turn}.`,
    );
    await pane.finished();
    expect(await pane.answer()).not.toBe("");
  }
  await expect(pane.log).toContainText(/Earlier messages are no longer sent to the model \(\d+ turns?\)/);
  await expect(pane.log).toContainText("story number 1.");
});

test("the tokens of an imported chat are counted in the pane that had no chat", async ({ page }) => {
  const app = await App.openFake(page, "stepms=5");
  const pane = app.pane(1);
  const settings = page.getByRole("dialog", { name: "Settings for all panes" });
  const openSettings = () => page.getByRole("button", { name: "Settings for all panes" }).click();
  const count = pane.region.getByText(/^\d+ of [\d,]+ tokens$/);
  await expect(count).toBeVisible();
  const counted = await count.innerText();
  await pane.ask("What is the capital of France?");
  await pane.finished();
  await expect(count).not.toHaveText(counted);
  const withChat = await count.innerText();
  await openSettings();
  const saving = page.waitForEvent("download");
  await settings.getByRole("button", { name: "Export all chats" }).click();
  const path = await (await saving).path();

  await App.openFake(page, "stepms=5");
  await expect(count).toHaveText(counted);
  await openSettings();
  const choosing = page.waitForEvent("filechooser");
  await settings.getByRole("button", { name: "Import" }).click();
  await (await choosing).setFiles(path);
  await expect(pane.log).toContainText("Paris");
  await expect(count).toHaveText(withChat, { timeout: 20_000 });
});
