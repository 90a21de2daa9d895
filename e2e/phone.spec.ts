import { expect, test, type Locator } from "playwright/test";
import { App } from "./support/app.ts";

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

test("on a phone: the tab of the pane in view is visible, New chat shows its pane, and taps describe what is there", async ({
  page,
}) => {
  const app = await App.openFake(page, "stepms=5&max_tokens=40");

  await test.step("a tap on the timeline or on the cache map describes what is there; a tap elsewhere hides that", async () => {
    await page.getByRole("button", { name: "Ask all four at once" }).tap();
    await expect(page.getByRole("tab", { name: "Pane 4:" })).toBeVisible();
    await expect(app.pane(1).message).toBeFocused();
    await app.pane(1).finished();
    await page.getByRole("button", { name: "Open Batch" }).tap();
    const timeline = page.getByRole("region", { name: "Timeline" });
    const words = timeline.getByText(/^Pane 1, turn 1: (decode|finished)/);
    const tapAt = async (area: Locator, fromRight: number, fromTop: number) => {
      const { width } = (await area.boundingBox())!;
      await area.tap({ position: { x: width - fromRight, y: fromTop } });
    };
    await expect(timeline.getByRole("button", { name: "Go to Pane 1 turn 1" })).toBeVisible();
    // Right is the newest step; the first line begins below the step numbers.
    await tapAt(timeline.getByRole("slider", { name: "Step and sequence" }), 30, 28);
    await expect(words).toBeVisible();
    await timeline.getByRole("heading").tap();
    await expect(words).toBeHidden();

    const map = page.getByRole("region", { name: "Cache blocks" });
    await expect(map.getByText(/ cached, of [1-9]/)).toBeVisible();
    await map.getByRole("slider").tap({ position: { x: 5, y: 5 } });
    await expect(map.getByText(/^Block 0: /)).toBeVisible();
  });

  await test.step("a pane's head names who answers it; New chat is beside Add pane, and shows its pane instead of the batch", async () => {
    await page.getByRole("tab", { name: "Pane 1:" }).tap();
    const pane = app.pane(1);
    await expect(pane.region.getByRole("button", { name: "is answered by" }).getByText("fake-gpt")).toBeVisible();
    await pane.ask("Why does bread rise?");
    await pane.finished();
    await page.getByRole("tab", { name: "Batch" }).tap();
    await page.getByRole("button", { name: "New chat" }).tap();
    await expect(pane.message).toBeFocused();
    await expect(pane.log.getByRole("article")).toHaveCount(0);
  });

  await test.step("the tab of the pane in view is visible, even with sixteen panes", async () => {
    for (let number = 5; number <= 16; number++) {
      await page.getByRole("button", { name: "Add pane" }).tap();
      await expect(app.pane(number).region).toBeVisible();
    }
    const tab = (number: number) => page.getByRole("tab", { name: `Pane ${number}:` });
    await expect(tab(16)).toBeInViewport({ ratio: 0.95 });
    await expect(app.pane(16).region).toBeVisible();
    // The batch's tab comes after the last pane's, and the first pane's after that.
    await tab(16).press("ArrowRight");
    await page.getByRole("tab", { name: "Batch" }).press("ArrowRight");
    await expect(tab(1)).toBeFocused();
    await expect(tab(1)).toBeInViewport({ ratio: 0.95 });
  });
});

test("an alert moves nothing: the demo's timeline stays in view, where it was", async ({ page }) => {
  const app = await App.openFake(page, "stepms=40");
  await page.getByRole("link", { name: "Demo", exact: true }).click();
  // The chats have such a tab, too, until the demo is there.
  await page.getByRole("navigation", { name: "Demo" }).getByRole("tab", { name: "Batch" }).tap();
  const timeline = app.batch.getByRole("region", { name: "Timeline" });
  // How many lines there are changes with each arrival and each end.
  await expect(timeline.getByText("turn 1").first()).toBeVisible();
  const before = await timeline.boundingBox();
  await app.raiseAlert("queue_length", 128);
  await app.raiseAlert("low_occupancy", 0.12);
  const line = app.batch.getByText("12% of slots in use, others wait, and 1 more");
  await expect(line).toBeInViewport({ ratio: 1 });
  await expect(timeline).toBeInViewport({ ratio: 0.99 });
  expect(await timeline.boundingBox()).toEqual(before);
});
