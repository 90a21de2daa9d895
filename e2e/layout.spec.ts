// Windows of every size: everything can be reached, nothing lies over anything, and nothing moves by itself.

import { expect, test, type Locator } from "playwright/test";
import { App, type Pane } from "./support/app.ts";
import { shifts, watchShifts } from "./support/shifts.ts";

/** Whether a press on the middle of an element is one on it: it is in view, and nothing lies over it. */
const isOnTop = (element: Locator) =>
  element.evaluate((target) => {
    const { left, top, width, height } = target.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return hit !== null && (target.contains(hit) || hit.contains(target));
  });

/** Asserts that the pane's box and button are in view, with nothing over them. */
async function expectReachable({ message, send }: Pane): Promise<void> {
  await message.focus();
  for (const part of [message, send]) {
    await part.scrollIntoViewIfNeeded();
    await expect(part).toBeInViewport({ ratio: 1 });
    expect(await isOnTop(part)).toBe(true);
  }
}

const NUMBERS = [1, 2, 3, 4];
const ANSWERED = "panes=4&ask&stepms=5&max_tokens=20";

test("on phones held upright every composer can be reached, and used", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const app = await App.openFake(page, ANSWERED);
  for (const size of [
    { width: 390, height: 844 },
    { width: 360, height: 640 },
  ]) {
    await page.setViewportSize(size);
    for (const number of NUMBERS) {
      await page.getByRole("tab", { name: `Pane ${number}:` }).click();
      const pane = app.pane(number);
      await pane.finished();
      await expectReachable(pane);
    }
    const last = app.pane(4);
    await last.ask("What is the capital of France?");
    await last.finished();
    await last.turn.getByRole("button", { name: "Regenerate" }).click();
    await last.finished();
    const toast = (await page.getByRole("status").filter({ hasText: "Answer regenerated" }).boundingBox())!;
    const send = (await last.send.boundingBox())!;
    expect(toast.y + toast.height, "a toast is above the composer").toBeLessThan(send.y);
    await page.getByRole("status").getByRole("button", { name: "Close" }).click();
  }
});

test("on a phone held sideways and at 200% every composer can be reached, and the batch is folded", async ({
  page,
}) => {
  await page.setViewportSize({ width: 844, height: 390 });
  const app = await App.openFake(page, ANSWERED);
  const charts = app.batch.getByRole("region", { name: "Charts" });
  const first = app.pane(1);
  for (const size of [
    { width: 844, height: 390 },
    { width: 720, height: 450 },
  ]) {
    await page.setViewportSize(size);
    await expect(charts).toBeHidden();
    for (const number of NUMBERS) {
      await app.pane(number).finished();
      await expectReachable(app.pane(number));
    }
    await first.ask("What is the capital of France?");
    await first.finished();
    // Unfolded by hand it leaves the chats some room, and the next visit to a high window finds it as it was.
    await page.getByRole("button", { name: "Expand Batch" }).click();
    await expect(charts).toBeInViewport();
    await first.message.scrollIntoViewIfNeeded();
    expect(await isOnTop(first.message)).toBe(true);
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect(charts).toBeVisible();
  }
});

test("nothing in the bar lies over anything, also where the model could not be started; its name is whole", async ({
  page,
}) => {
  for (const [query, from] of [
    ["panes=4", 1024],
    ["panes=2&load=600000", 1280],
    ["panes=4&fail=model_not_found", 1280],
  ] as const) {
    const app = await App.openFake(page, query);
    await expect(app.pane(1).message).toBeVisible();
    const buttons = page.locator("header").getByRole("button");
    if (query.includes("fail")) await expect(buttons.filter({ hasText: "Try again" })).toBeVisible();
    for (const width of [720, 1024, 1280, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const covered = await buttons.evaluateAll((all) =>
        all
          .filter((button) => {
            const { left, top, width, height } = button.getBoundingClientRect();
            const hit = document.elementFromPoint(left + width / 2, top + height / 2);
            return button.checkVisibility() && !(hit && (button.contains(hit) || hit.contains(button)));
          })
          .map(({ textContent }) => textContent),
      );
      expect(covered, `${width}, ${query}`).toEqual([]);
      const name = page.getByRole("button", { name: /^Model: / }).locator("b");
      const isWhole = await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
      if (width >= from) expect(isWhole, `the name at ${width}, ${query}`).toBe(true);
      // Figures without room in the batch's head are hidden as a whole.
      const cut = await app.batch
        .locator("dl")
        .first()
        .evaluate((list) => {
          const head = list.getBoundingClientRect();
          return [...list.querySelectorAll("dd")]
            .filter((value) => {
              const box = value.getBoundingClientRect();
              return box.width > 0 && box.top < head.bottom && box.right > head.right;
            })
            .map(({ textContent }) => textContent);
        });
      expect(cut, `the batch's values at ${width}`).toEqual([]);
    }
  }
});

/** Whether no part of an element's text is cut off. */
const isUncut = (element: Locator) =>
  element.evaluate((target) => target.scrollWidth <= target.clientWidth && target.scrollHeight <= target.clientHeight);

const edgesOf = (element: Locator) => element.evaluate((target) => target.getBoundingClientRect().toJSON() as DOMRect);

test("where the model runs can be read on small and large laptops, beside a model's long name", async ({ page }) => {
  const runsOn = page.locator("header").getByText("CPU, 12 threads", { exact: true });
  for (const name of ["SmolLM2-135M-Instruct", "DeepSeek-R1-Distill-Qwen-1.5B-Instruct-GGUF-Q4_K_M"]) {
    await App.openFake(page, `name=${name}&threads=12%20threads`);
    for (const width of [1200, 1280, 1440, 1600]) {
      await page.setViewportSize({ width, height: 800 });
      await expect(runsOn).toBeVisible();
      expect(await isUncut(runsOn), `at ${width}`).toBe(true);
      const { left } = await edgesOf(page.getByRole("button", { name: "New chat", exact: true }));
      expect((await edgesOf(runsOn)).right, `at ${width}`).toBeLessThan(left);
    }
  }
});

test("where the model runs can be read at 1280 px beside the advice to reload", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.addInitScript(() => {
    Object.defineProperty(window, "crossOriginIsolated", { get: () => false });
    Object.defineProperty(navigator, "hardwareConcurrency", { get: () => 8 });
  });
  await App.openFake(page, "name=SmolLM2-135M-Instruct&threads=1%20thread");
  await expect(page.locator("header").getByText("Reload for more threads")).toBeVisible();
  expect(await isUncut(page.locator("header").getByText("CPU, 1 thread", { exact: true }))).toBe(true);
});

test("an alert's words are whole on tablets and desktops, and cost no counter its place", async ({ page }) => {
  const app = await App.openFake(page, "panes=2");
  const widths = [
    [1440, "Preemptions"],
    [1024, "KV use"],
    [768, "Running"],
  ] as const;
  for (const isRaised of [false, true]) {
    if (isRaised) {
      await app.raiseAlert("queue_length", 128);
      await app.raiseAlert("low_occupancy", 0.12);
    }
    for (const [width, lastShown] of widths) {
      await page.setViewportSize({ width, height: 900 });
      await app.listens();
      const counter = app.figure(lastShown);
      await expect(counter, `at ${width}`).toBeInViewport({ ratio: 1 });
      if (!isRaised) continue;
      const line = app.batch.getByText("12% of slots in use, others wait, and 1 more");
      expect(await isUncut(line), `the words at ${width}`).toBe(true);
      const [{ x }, box] = [(await line.boundingBox())!, (await counter.boundingBox())!];
      expect(x, "right of the counters").toBeGreaterThanOrEqual(box.x + box.width);
      expect(await isOnTop(line)).toBe(true);
    }
  }
});

test("on phones the model's name can be read, over two lines if it is long", async ({ page }) => {
  for (const [name, widths] of [
    ["chorus-chat", [390, 360]],
    ["SmolLM2-360M", [390]],
    ["Qwen3-0.6B", [390]],
  ] as const) {
    await App.openFake(page, `name=${name}`);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 844 });
      const shown = page.getByRole("button", { name: /^Model: / });
      await expect(shown).toContainText(name);
      expect(await isUncut(shown.locator("b")), `${name} at ${width}`).toBe(true);
      expect(await isUncut(page.getByRole("banner")), "within the bar").toBe(true);
    }
  }
});

test("nothing moves by itself: not when the model is ready, not while answers stream, nor in the demo", async ({
  page,
}) => {
  await watchShifts(page);
  const app = await App.openFake(page, "panes=4&load=held&stepms=15&max_tokens=40");
  await expect(page.getByRole("heading", { name: "Getting chorus-chat ready" })).toBeInViewport();
  await page.evaluate(() => dispatchEvent(new Event("startload")));
  await app.modelLoaded();
  expect(await shifts(page), "when the model is ready").toBeLessThan(0.005);
  for (const number of [1, 2, 3, 4]) await app.pane(number).ask("Go on and on.");
  for (const number of [1, 2, 3, 4]) await app.pane(number).finished();
  await app.pane(1).ask("What is the capital of France?");
  await app.pane(1).finished();
  expect(await shifts(page), "after answers").toBeLessThan(0.01);
  const before = await shifts(page);
  await page.getByRole("link", { name: "Demo", exact: true }).click();
  await expect(page.getByRole("button", { name: "Run again" })).toBeEnabled();
  expect((await shifts(page)) - before, "in the demo").toBeLessThan(0.005);
  // An observer that sees nothing would find that nothing moves.
  await page.evaluate(() => document.body.style.setProperty("padding-top", "50px"));
  await expect.poll(() => shifts(page)).toBeGreaterThan(0.01);
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

  // So it does in the list of chats.
  await page.keyboard.press("Alt+h");
  const list = page.getByRole("dialog", { name: "Chats" });
  expect(await direction(list.getByText("מה שלומך?"))).toBe("rtl");
});

test("the composer says how many tokens it sends, and which turns no longer fit, before they are sent", async ({
  page,
}) => {
  await page.setViewportSize({ width: 1280, height: 900 });
  const app = await App.openFake(page, "panes=4&context=60&max_tokens=20&stepms=5");
  const pane = app.pane(1);
  for (const question of ["one two three four five six", "one two three four five six seven"]) {
    await pane.ask(question);
    await pane.finished();
  }
  await pane.message.fill("eight nine");
  const left = pane.region.getByText(/^2 tokens, \d+ of 60 sent; the oldest turn left out$/);
  await expect(left).toBeVisible();
  expect(await left.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), "all of it").toBe(true);
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
  await expect(pane.region.getByText(/ of 60 tokens; one more turn left out$/)).toBeVisible();
});

test("a question mark explains a word of the batch, in words and a picture, which stays still on request", async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await App.openFake(page);
  for (const name of ["batching", "KV use", "prefix hits", "preemptions"]) {
    await page.getByRole("button", { name: `About ${name}` }).click();
    const dialog = page.getByRole("dialog", { name: `About ${name}` });
    await expect(dialog.getByRole("img")).toBeInViewport({ ratio: 1 });
    await expect(dialog.getByRole("button", { name: "Play again" })).toHaveCount(0);
    if (name === "batching") {
      await dialog.getByRole("button", { name: "Run-ahead" }).click();
      await expect(dialog.getByText(/Reading tokens back often takes longer than a step/)).toBeVisible();
    }
    await page.keyboard.press("Escape");
  }
});

test("a pane's figures are whole beside the list of chats, or not there", async ({ page }) => {
  const app = await App.openFake(page, ANSWERED);
  await page.evaluate(() => localStorage.removeItem("chorus.chats-at-side"));
  await page.reload();
  await expect(page.getByRole("navigation", { name: "Chats" })).toBeVisible();
  await app.pane(1).finished();
  const figure = app
    .pane(1)
    .region.getByText(/^\d+ tokens$/)
    .first();
  await expect(figure).toBeInViewport({ ratio: 1 });
  expect(await isUncut(figure)).toBe(true);
});
