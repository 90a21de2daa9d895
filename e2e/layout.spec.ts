// Windows of every size: everything can be reached, nothing lies over anything, and nothing moves by itself.

import { expect, test, type Locator, type Page } from "playwright/test";
import { App } from "./support/app.ts";

/** A phone upright and on its side, a small one, and a desktop at 200%. */
const SIZES = [
  { width: 390, height: 844 },
  { width: 844, height: 390 },
  { width: 360, height: 640 },
  { width: 720, height: 450 },
] as const;

/** Whether a press on the middle of an element is one on it: it is in view, and nothing lies over it. */
const isOnTop = (element: Locator) =>
  element.evaluate((target) => {
    const { left, top, width, height } = target.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return hit !== null && (target.contains(hit) || hit.contains(target));
  });

for (const { width, height } of SIZES) {
  test(`at ${width}x${height} every composer can be reached, with the batch folded where it has no room`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height });
    const app = await App.openFake(page, "panes=4&ask&stepms=5&max_tokens=20");
    const isPhone = width < 720;
    for (let number = 1; number <= 4; number++) {
      if (isPhone) await page.getByRole("tab", { name: `Pane ${number}:` }).click();
      const pane = app.pane(number);
      await pane.finished();
      await pane.message.focus();
      for (const part of [pane.message, pane.send]) {
        await part.scrollIntoViewIfNeeded();
        await expect(part).toBeInViewport({ ratio: 1 });
        expect(await isOnTop(part)).toBe(true);
      }
      await pane.ask("What is the capital of France?");
      await pane.finished();
    }
    if (isPhone) return;
    const charts = app.batch.getByRole("region", { name: "Charts" });
    await expect(charts).toBeHidden();
    // Unfolded by hand it leaves the chats some room, and the next visit to a high window finds it as it was.
    await page.getByRole("button", { name: "Expand Batch" }).click();
    await expect(charts).toBeInViewport();
    await app.pane(1).message.scrollIntoViewIfNeeded();
    expect(await isOnTop(app.pane(1).message)).toBe(true);
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect(charts).toBeVisible();
    await page.setViewportSize({ width, height });
    await expect(charts).toBeHidden();
  });
}

/** The layout shifts of the page so far that no input explains, added up. */
const shifts = (page: Page) => page.evaluate(() => (window as unknown as { shifted: number }).shifted);

test("nothing moves by itself: not when the model is ready, not while answers stream, nor in the demo", async ({
  page,
}) => {
  await page.addInitScript(() => {
    Object.assign(window, { shifted: 0 });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
        if (!entry.hadRecentInput) (window as unknown as { shifted: number }).shifted += entry.value;
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  const app = await App.openFake(page, "panes=4&load=1500&stepms=15&max_tokens=40");
  await expect(page.getByRole("heading", { name: "Getting chorus-chat ready" })).toBeInViewport();
  await app.modelLoaded();
  expect(await shifts(page), "when the model is ready").toBeLessThan(0.005);
  for (const number of [1, 2, 3, 4]) await app.pane(number).ask("Go on and on.");
  for (const number of [1, 2, 3, 4]) await app.pane(number).finished();
  await app.pane(1).ask("What is the capital of France?");
  await app.pane(1).finished();
  expect(await shifts(page), "after answers").toBeLessThan(0.015);
  await page.getByRole("button", { name: "Demo", exact: true }).click();
  await expect(page.getByRole("button", { name: "Back to my chats" })).toBeVisible();
  expect(await shifts(page), "after the demo").toBeLessThan(0.02);
});

test("text of a right-to-left script stands right, in questions, answers and the box", async ({ page }) => {
  const app = await App.openFake(page, "panes=1&stepms=5&max_tokens=10");
  const pane = app.pane(1);
  await pane.message.fill("מה שלומך?");
  const direction = (element: Locator) => element.evaluate((target) => getComputedStyle(target).direction);
  expect(await direction(pane.message)).toBe("rtl");
  await pane.send.click();
  await pane.finished();
  expect(await direction(pane.turn.locator("p", { hasText: "מה" }))).toBe("rtl");
  // The answer is English.
  expect(await direction(pane.turn.locator("[data-answer] p").first())).toBe("ltr");
});

test("the composer says how many tokens it sends, and which turns no longer fit, before they are sent", async ({
  page,
}) => {
  const app = await App.openFake(page, "context=60&max_tokens=20&stepms=5");
  const pane = app.pane(1);
  for (const question of ["one two three four five six", "one two three four five six seven"]) {
    await pane.ask(question);
    await pane.finished();
  }
  await pane.message.fill("eight nine");
  const left = pane.region.getByText(/^2 tokens, \d+ of 60 sent; the oldest turn left out$/);
  await expect(left).toBeVisible();
  await expect(pane.message).toHaveAccessibleDescription(/of 60 sent/);
  const colorOf = (turn: number) =>
    pane.log
      .getByRole("article")
      .nth(turn)
      .evaluate((article) => getComputedStyle(article).color);
  expect(await colorOf(0)).not.toBe(await colorOf(1));
  await expect(pane.log).not.toContainText("no longer sent");
  await pane.send.click();
  await pane.finished();
  await expect(pane.log).toContainText("Earlier messages are no longer sent to the model (1 turn)");
});

test("a question mark explains a word of the batch, in words and a picture, which stays still on request", async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await App.openFake(page);
  for (const name of ["batching", "KV use", "prefix hits", "preemptions"]) {
    await page.getByRole("button", { name: `What ${name} means` }).click();
    const dialog = page.getByRole("dialog", { name: `What ${name} means` });
    await expect(dialog.getByRole("img")).toBeInViewport({ ratio: 1 });
    await expect(dialog.getByRole("button", { name: "Play again" })).toHaveCount(0);
    if (name === "batching") {
      await dialog.getByRole("button", { name: "Run-ahead" }).click();
      await expect(dialog.getByText(/Reading tokens back often takes longer than a step/)).toBeVisible();
    }
    await page.keyboard.press("Escape");
  }
});
