// Windows of every size: everything can be reached, nothing lies over anything, and nothing moves by itself.

import { expect, test, type Locator, type Page } from "playwright/test";
import { App, rendered, type Pane } from "./support/app.ts";
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

/** Whether no part of an element's text is cut off. */
const isUncut = (element: Locator) =>
  element.evaluate((target) => target.scrollWidth <= target.clientWidth && target.scrollHeight <= target.clientHeight);

const edgesOf = (element: Locator) => element.evaluate((target) => target.getBoundingClientRect().toJSON() as DOMRect);

test("on phones and beside the list of chats every composer can be reached, and used, and figures are whole", async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const app = await App.openFake(page, ANSWERED);
  await test.step("held upright", async () => {
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

  await test.step("held sideways and at 200%, where the batch is folded", async () => {
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

  await test.step("a pane's figures are whole beside the list of chats, or not there", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.evaluate(() => localStorage.setItem("chorus.chats-at-side", "shown"));
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
});

async function resize(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await rendered(page);
}

/** Asserts that nothing in the bar lies over anything, and that the model's name is whole from a width on. */
async function expectWholeBar(app: App, state: string, nameFrom: number): Promise<void> {
  const { page } = app;
  await expect(app.pane(1).message).toBeVisible();
  const buttons = page.locator("header").getByRole("button");
  for (const width of [720, 1024, 1280, 1440]) {
    await resize(page, width, 900);
    const covered = await buttons.evaluateAll((all) =>
      all
        .filter((button) => {
          const { left, top, width, height } = button.getBoundingClientRect();
          const hit = document.elementFromPoint(left + width / 2, top + height / 2);
          return button.checkVisibility() && !(hit && (button.contains(hit) || hit.contains(button)));
        })
        .map(({ textContent }) => textContent),
    );
    expect(covered, `${width}, ${state}`).toEqual([]);
    const name = page.getByRole("button", { name: /^Model: / }).locator("b");
    const isWhole = await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
    if (width >= nameFrom) expect(isWhole, `the name at ${width}, ${state}`).toBe(true);
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

/** Asserts that the model's name is whole, over two lines if it is long. */
async function expectNameOnPhone(page: Page, name: string, width: number): Promise<void> {
  await resize(page, width, 844);
  const shown = page.getByRole("button", { name: /^Model: / });
  await expect(shown).toContainText(name);
  expect(await isUncut(shown.locator("b")), `${name} at ${width}`).toBe(true);
  expect(await isUncut(page.getByRole("banner")), "within the bar").toBe(true);
}

test("nothing in the bar lies over anything, nor anything out of the window; what the batch's words mean is a click away", async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  const app = await App.openFake(page, "panes=2&name=chorus-chat");

  await test.step("nothing scrolls sideways, however wide the window is", async () => {
    for (const width of [320, 390, 719, 720, 768, 900, 1023, 1024, 1280, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      const beyond = () =>
        page.evaluate(() => {
          const bar = document.querySelector("header")?.getBoundingClientRect();
          const ends = [...document.querySelectorAll("header button")].map(
            (button) => button.getBoundingClientRect().right,
          );
          return Math.max(document.documentElement.scrollWidth, bar?.right ?? Infinity, ...ends) - innerWidth;
        });
      await expect.poll(() => page.evaluate(() => innerWidth)).toBe(width);
      // The layout follows a change of width a moment later.
      await expect.poll(beyond, `at ${width} px`).toBeLessThanOrEqual(0);
    }
  });

  await test.step("on phones the model's name can be read", async () => {
    for (const width of [390, 360]) await expectNameOnPhone(page, "chorus-chat", width);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await test.step("a question mark explains a word of the batch, in words and a picture, which stays still on request", async () => {
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

  await test.step("an alert's words are whole on tablets and desktops, and cost no counter its place", async () => {
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

  await test.step("with four panes, while the model loads, and where it could not be started", async () => {
    await App.openFake(page, "panes=4");
    await expectWholeBar(app, "four panes", 1024);
    await App.openFake(page, "panes=2&load=600000");
    await expectWholeBar(app, "it loads", 1280);
    await App.openFake(page, "panes=4&fail=model_not_found");
    await expect(page.locator("header").getByRole("button", { name: "Try again" })).toBeVisible();
    await expectWholeBar(app, "it failed", 1280);
  });
});

test("the model's name can be read on phones, and where it runs on small and large laptops", async ({ page }) => {
  const where = (words: string) => page.locator("header").getByText(words, { exact: true });
  for (const [name, isOnPhones] of [
    ["SmolLM2-360M", true],
    ["Qwen3-0.6B", true],
    ["SmolLM2-135M-Instruct", false],
    ["DeepSeek-R1-Distill-Qwen-1.5B-Instruct-GGUF-Q4_K_M", false],
  ] as const) {
    await App.openFake(page, `name=${name}&threads=12%20threads`);
    if (isOnPhones) {
      await expectNameOnPhone(page, name, 390);
      continue;
    }
    for (const width of [1200, 1280, 1440, 1600]) {
      await resize(page, width, 800);
      await expect(where("CPU, 12 threads")).toBeVisible();
      expect(await isUncut(where("CPU, 12 threads")), `at ${width}`).toBe(true);
      const { left } = await edgesOf(page.getByRole("button", { name: "New chat", exact: true }));
      expect((await edgesOf(where("CPU, 12 threads"))).right, `at ${width}`).toBeLessThan(left);
    }
  }

  // Beside the advice to reload.
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.addInitScript(() => {
    Object.defineProperty(window, "crossOriginIsolated", { get: () => false });
    Object.defineProperty(navigator, "hardwareConcurrency", { get: () => 8 });
  });
  await App.openFake(page, "name=SmolLM2-135M-Instruct&threads=1%20thread");
  await expect(page.locator("header").getByText("Reload for more threads")).toBeVisible();
  expect(await isUncut(where("CPU, 1 thread"))).toBe(true);
});

test("nothing moves by itself: not when the model is ready, before which the cache has no blocks, not while answers stream, nor in the demo", async ({
  page,
}) => {
  await watchShifts(page);
  const app = await App.openFake(page, "panes=4&load=held&stepms=15&max_tokens=40");
  await expect(page.getByRole("heading", { name: "Getting chorus-chat ready" })).toBeInViewport();
  const blocks = page.getByRole("region", { name: "Cache blocks", exact: true });
  await expect(blocks.getByText("No blocks until the model is ready")).toBeVisible();
  await page.evaluate(() => dispatchEvent(new Event("startload")));
  await app.modelLoaded();
  await expect(blocks.getByText(/^0 in use, 0 cached, of [1-9]/)).toBeVisible();
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

test("each text has one direction, its own: a long draft after a reload, and what is asked in a right-to-left script", async ({
  page,
}) => {
  const app = await App.openFake(page, "keep&stepms=5&max_tokens=10");
  const pane = app.pane(1);
  await test.step("a long draft", async () => {
    const long = `${"word ".repeat(200)}\n`.repeat(100);
    const { message } = pane;
    await message.fill(long);
    await expect(message).toHaveValue(long);
    await page.reload();
    await expect(message).toHaveValue(long);
    // For a pasted megabyte one element per paragraph took 5 s, and again at each reload. Looking for the direction of all lines
    // with each line took a minute.
    await pane.region.getByRole("button", { name: /^Settings of pane 1/ }).click();
    const boxes = page.locator("textarea");
    await expect(boxes.nth(2)).toBeVisible();
    for (const box of await boxes.all()) {
      await expect(box).toHaveCSS("unicode-bidi", "isolate");
      await expect(box).toHaveAttribute("dir", "ltr");
    }
    await page.keyboard.press("Escape");
  });

  await test.step("a right-to-left script, in questions, answers, the box and the list of chats", async () => {
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
});

test("a chat that outgrows the context continues without its oldest turns: the composer says which, before it is sent", async ({
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
  expect(await pane.answer()).not.toBe("");
  await expect(pane.log).toContainText("Earlier messages are no longer sent to the model (1 turn)");
  await expect(pane.log.getByRole("article")).toHaveCount(3);
  await expect(pane.region.getByText(/ of 60 tokens; one more turn left out$/)).toBeVisible();
});
