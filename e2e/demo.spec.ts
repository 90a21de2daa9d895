import { expect, test, type Locator } from "playwright/test";
import { App } from "./support/app.ts";

test("the demo asks eight questions at once, then one after the other, and says both times", async ({ page }) => {
  const app = await App.open(page, "max_tokens=8");
  await app.pane(1).message.fill("A draft of mine");
  await page.getByRole("link", { name: "Demo", exact: true }).click();
  const demo = page.getByRole("region", { name: "Demo" });
  await expect(demo.getByRole("region", { name: /^Pane \d$/ })).toHaveCount(8);
  await expect(app.pane(8).region.getByRole("heading")).toContainText(/\w/);

  await expect(demo.getByText("Exactly the same answers both times")).toBeVisible();
  const times = await demo.getByRole("definition").allInnerTexts();
  const [together = 0, apart = 0] = times.map(Number.parseFloat);
  // Each time is rounded to 0.1 s, and so is their quotient.
  const shown = Number.parseFloat(await demo.getByText(/^[\d.]+×$/).innerText());
  expect(shown).toBeGreaterThanOrEqual((apart - 0.05) / (together + 0.05) - 0.05);
  expect(shown).toBeLessThanOrEqual((apart + 0.05) / (together - 0.05) + 0.05);

  // All of it is in view at once, on a desk and on a phone; there the batch takes the answers' place, not the times'.
  const inView = async (part: Locator) => expect(part).toBeInViewport({ ratio: 0.99 });
  for (const size of [page.viewportSize(), { width: 390, height: 844 }]) {
    if (size) await page.setViewportSize(size);
    for (let number = 1; number <= 8; number++) await inView(app.pane(number).region);
    await inView(demo.getByText(/^[\d.]+×$/));
  }
  await page.getByRole("tab", { name: "Answers" }).press("ArrowRight");
  await inView(app.batch.getByRole("region", { name: "Timeline" }));
  await inView(demo.getByText(/^[\d.]+×$/));
  await page.setViewportSize({ width: 1440, height: 900 });

  // Its lines lead nowhere: the panes of those numbers are others.
  const line = app.batch.getByRole("list").getByText(/^Pane 8 turn 1$/);
  await expect(line).toBeVisible();
  await expect(app.batch.getByRole("button", { name: /^Go to Pane/ })).toHaveCount(0);
  await page.getByRole("link", { name: "Back to chats" }).click();
  await expect(line).toBeVisible();
  await expect(app.batch.getByRole("button", { name: /^Go to Pane/ })).toHaveCount(0);
  await expect(app.pane(1).message).toHaveValue("A draft of mine");
  await expect(page.getByRole("region", { name: /^Pane \d$/ })).toHaveCount(1);
});

test("the demo's page comes when it is there, asks sixteen on request, and Escape ends it at any time", async ({
  page,
}) => {
  await test.step("a page that is still on its way is not a blank one", async () => {
    let letGo = () => {};
    const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
    await page.route("**/DemoPage-*.js", (route) => isLetGo.then(() => route.continue()));
    await App.openFake(page, "max_tokens=4&stepms=5");
    await page.getByRole("link", { name: "Demo", exact: true }).click();
    await expect(page.getByRole("main")).toHaveText("Opening …");
    letGo();
    await expect(page.getByRole("region", { name: "Demo" })).toBeVisible();
  });
  const app = new App(page);

  await test.step("it asks sixteen", async () => {
    await page.getByRole("button", { name: "Ask 16" }).click();
    await expect(page.getByRole("heading", { name: "Sixteen questions, twice" })).toBeVisible();
    await expect(page.getByRole("region", { name: "Demo" })).toContainText(
      /All sixteen together took only as long as [\d.]+ of them one after/,
    );
    await app.pane(16).region.scrollIntoViewIfNeeded();
    await expect(app.pane(16).region).toBeInViewport();
    await page.getByRole("button", { name: "Ask 8" }).click();
    await expect(page.getByRole("heading", { name: "Eight questions, twice" })).toBeVisible();
  });

  await test.step("Escape ends it, and nothing runs on", async () => {
    // Slow steps: by themselves the answers would end after half a minute.
    await App.openFake(page, "stepms=500");
    await page.getByRole("link", { name: "Demo", exact: true }).click();
    // The chats stay until the demo's page is loaded, and count tokens, too.
    await expect(page.getByRole("heading", { name: "Eight questions, twice" })).toBeVisible();
    await expect(app.pane(1).region.getByText(/\d+ tokens/)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(app.pane(1).message).toBeVisible();
    await expect(app.figure("Running")).toHaveText(/^0 of \d+$/);
    await app.pane(1).ask("Tell me a joke");
    await expect.poll(() => app.pane(1).answer()).toMatch(/\w/);
  });
});
