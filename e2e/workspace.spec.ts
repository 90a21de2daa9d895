// The actions on chats, with an engine without a model, whose answers are known.

import { expect, test, type Page } from "playwright/test";
import { App, ENDLESS, rendered, type Pane } from "./support/app.ts";

const BREAD = "Why does bread rise?";
const FRANCE = "What is the capital of France?";

const menuItem = async (page: Page, pane: number, item: string) => {
  await page.getByRole("button", { name: `More for pane ${pane}` }).click();
  await page.getByRole("menuitem", { name: item }).click();
};
const order = (page: Page) =>
  page
    .getByRole("region", { name: /^Pane \d+$/ })
    .evaluateAll((regions) => regions.map((region) => Number(region.ariaLabel?.slice(5))));
const questions = (pane: Pane) => pane.log.getByRole("article").locator("p", { hasText: "You:" }).allInnerTexts();
const button = (pane: Pane, name: string) => pane.turn.getByRole("button", { name, exact: true });
/** A person's double click, with a tenth of a second between its clicks: a busy machine would take longer. */
async function doubleClick(page: Page, name: string): Promise<void> {
  const target = page.getByRole("button", { name });
  await target.hover();
  const { x, y, width, height } = (await target.boundingBox())!;
  const at = { x: x + width / 2, y: y + height / 2, button: "left" } as const;
  const cdp = await page.context().newCDPSession(page);
  const began = Date.now() / 1000;
  for (const clickCount of [1, 2]) {
    const click = { ...at, clickCount, timestamp: began + clickCount / 10 };
    for (const type of ["mousePressed", "mouseReleased"] as const) {
      await cdp.send("Input.dispatchMouseEvent", { type, ...click });
    }
  }
  await cdp.detach();
}
async function answered(pane: Pane, question: string): Promise<void> {
  await pane.ask(question);
  await pane.finished();
}

test("panes are closed and brought back, named, duplicated, and moved by keys and by hand", async ({ page }) => {
  const app = await App.openFake(page, "panes=3&stepms=5");
  const first = app.pane(1);
  await answered(first, FRANCE);

  await test.step("a double click on × closes one pane; Ctrl+Z brings it back", async () => {
    await doubleClick(page, "Close pane 1");
    await expect.poll(() => order(page)).toEqual([2, 3]);
    await page.keyboard.press("Control+z");
    await expect.poll(() => order(page)).toEqual([1, 2, 3]);
    await expect(app.pane(1).turn).toContainText("Paris");

    // With two panes the other's title slides under the pointer, where a double click would rename it. A busy page is late for it.
    await page.getByRole("button", { name: "Close pane 3" }).press("Enter");
    await page.evaluate(() =>
      addEventListener("mouseup", ({ detail, timeStamp }) => {
        const untilMs = detail === 2 ? timeStamp + 1000 : 0;
        while (performance.now() < untilMs);
      }),
    );
    await doubleClick(page, "Close pane 1");
    await expect.poll(() => order(page)).toEqual([2]);
    await expect(page.getByRole("textbox", { name: "Name of the chat" })).toHaveCount(0);
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+z");
    await expect.poll(() => order(page)).toEqual([1, 2, 3]);

    // The focus is in an empty box, where there is nothing to undo.
    await page.getByRole("button", { name: "Close pane 1" }).press("Enter");
    await expect(app.pane(2).message).toBeFocused();
    await page.keyboard.press("Control+z");
    await expect.poll(() => order(page)).toEqual([1, 2, 3]);
  });

  await test.step("they are named, duplicated, moved by keys and by hand, and closed", async () => {
    await menuItem(page, 1, "Rename");
    await first.region.getByRole("textbox", { name: "Name of the chat" }).fill("Capitals");
    await page.keyboard.press("Enter");
    await expect(first.region.getByRole("heading", { name: "Capitals" })).toBeVisible();

    await menuItem(page, 1, "Duplicate");
    await expect.poll(() => order(page)).toEqual([1, 4, 2, 3]);
    await expect(app.pane(4).region.getByRole("heading", { name: "Capitals" })).toBeVisible();
    expect(await app.pane(4).answer()).toBe(await first.answer());
    await expect(app.pane(4).message).toBeFocused();

    await page.getByRole("button", { name: "More for pane 1" }).press("Enter");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expect(page.getByRole("menuitem", { name: "Move right" })).toBeFocused();
    await page.keyboard.press("Enter");
    await expect.poll(() => order(page)).toEqual([4, 1, 2, 3]);

    await page.getByText("New chat").last().dragTo(app.pane(4).region.getByRole("heading"));
    await expect.poll(() => order(page)).toEqual([3, 4, 1, 2]);

    await page.getByRole("button", { name: "Close pane 4" }).click();
    await expect.poll(() => order(page)).toEqual([3, 1, 2]);
  });

  await test.step("Ctrl+Z brings no pane back where a text field has something to undo", async () => {
    await page.getByRole("button", { name: "Close pane 1" }).press("Enter");
    await app.pane(2).message.pressSequentially("Half a thought");
    await page.keyboard.press("Control+z");
    await expect(app.pane(2).message).not.toHaveValue("Half a thought");
    await expect.poll(() => order(page)).toEqual([3, 2]);
  });
});

test("a chat that is moved, or that another page replaced, is as it was left: where one was reading, and what was typed", async ({
  page,
}) => {
  const app = await App.openFake(page, "panes=2&stepms=1");
  const [read, edited] = [app.pane(1), app.pane(2)];
  await answered(read, "Go on and on.");
  await answered(edited, FRANCE);
  await button(edited, "Edit question").click();
  const editor = edited.region.getByRole("textbox", { name: "Edit question" });
  await editor.fill(BREAD);
  await read.log.evaluate((log) => log.scrollTo(0, 100));
  await expect(read.region.getByRole("button", { name: "Latest" })).toBeVisible();
  await menuItem(page, 1, "Move right");
  await expect.poll(() => order(page)).toEqual([2, 1]);
  await expect.poll(() => read.log.evaluate((log) => log.scrollTop)).toBe(100);
  await page.getByRole("button", { name: "Settings for all panes" }).click();
  await page.evaluate(() => void (location.hash = "#/docs/app"));
  const back = page.getByRole("link", { name: "Back to chats" });
  await expect(read.region).toBeHidden();
  // An open dialog of the chats is in nobody's way.
  await back.click();
  await expect(read.region).toBeVisible();
  await expect.poll(() => read.log.evaluate((log) => log.scrollTop)).toBe(100);
  await expect(editor).toHaveValue(BREAD);
});

test("a chat forks at any answer; sixteen panes are all there are, and the page says so", async ({ page }) => {
  const app = await App.openFake(page, "panes=16&stepms=5");
  const pane = app.pane(1);
  await test.step("four can't be asked at once where sixteen are in use", async () => {
    for (let number = 1; number <= 16; number++) await app.pane(number).message.fill("Mine");
    await page.getByRole("button", { name: "Ask all four at once" }).click();
    await expect(page.getByText("16 panes are open: close one first")).toBeInViewport();
  });

  await test.step("a chat forks while there is room", async () => {
    await page.getByRole("button", { name: "Close pane 16" }).click();
    await answered(pane, FRANCE);
    await answered(pane, BREAD);
    const firstTurn = pane.log.getByRole("article").first();
    await firstTurn.getByRole("button", { name: "Fork from here" }).click();
    const forked = app.pane(16);
    await expect(forked.message).toBeFocused();
    await expect.poll(() => questions(forked)).toEqual([expect.stringContaining(FRANCE)]);
    await answered(forked, BREAD);
    await expect.poll(() => questions(pane)).toHaveLength(2);

    await firstTurn.getByRole("button", { name: "Fork from here" }).click();
    await expect(pane.region).toContainText("16 panes are open already");
  });
});

test("questions are edited, answers regenerated and copied, variants gone through, the chat cleared and restored", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const app = await App.openFake(page, "stepms=5");
  const pane = app.pane(1);
  await test.step("edited, regenerated, cleared, restored", async () => {
    await answered(pane, FRANCE);
    await answered(pane, BREAD);
    const before = await pane.answer();
    await button(pane, "Regenerate").click();
    await expect(pane.log).toBeFocused();
    await pane.finished();
    expect(await pane.answer()).toBe(before);
    await expect.poll(() => questions(pane)).toHaveLength(2);
    await expect(pane.turn.getByText("Variant 2/2")).toBeVisible();

    const first = pane.log.getByRole("article").first();
    await first.getByRole("button", { name: "Edit question" }).click();
    const box = first.getByRole("textbox", { name: "Edit question" });
    await expect(box).toBeFocused();
    await box.press("Escape");
    await expect(pane.message).toBeFocused();
    await first.getByRole("button", { name: "Edit question" }).click();
    await expect(first).toContainText("What follows stays as a variant.");
    await box.fill(BREAD);
    await box.press("Enter");
    await expect(pane.turn).toContainText("small pockets.");
    await expect.poll(() => questions(pane)).toEqual([expect.stringContaining(BREAD)]);

    await page.getByRole("button", { name: "New chat" }).click();
    await expect(pane.log.getByRole("article")).toHaveCount(0);
    await expect(pane.message).toBeFocused();
    await expect(
      page.getByRole("status").filter({ hasText: "New chat: the one before is in the list of chats" }),
    ).toBeVisible();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(pane.turn).toContainText("small pockets.");
    await expect(page.getByRole("button", { name: "Undo" })).toBeHidden();
    await page.keyboard.press("Control+Shift+O");
    await expect(pane.log.getByRole("article")).toHaveCount(0);
  });

  await test.step("variants are gone through where they are", async () => {
    for (const question of [FRANCE, BREAD, FRANCE]) await answered(pane, question);
    const second = pane.log.getByRole("article").nth(1);
    await second.getByRole("button", { name: "Edit question" }).click();
    await second.getByRole("textbox", { name: "Edit question" }).fill("Who are you?");
    await page.keyboard.press("Enter");
    await pane.finished();
    await expect.poll(() => questions(pane)).toHaveLength(2);
    const previous = second.getByRole("button", { name: "Previous variant" });
    const place = async () => {
      await rendered(page);
      return previous.boundingBox();
    };
    await pane.log.evaluate((log) => log.scrollTo(0, 40));
    const before = await place();
    await previous.click();
    await expect.poll(() => questions(pane)).toHaveLength(3);
    await expect(second.getByText("Variant 1/2")).toBeVisible();
    expect(await place()).toEqual(before);
    await expect(previous).toBeFocused();
    await expect(pane.region).toContainText("TTFT");
  });

  await test.step("an answer is copied as it was written, and its Markdown is shown without fetching or running anything", async () => {
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("example.org")) elsewhere.push(request.url());
    });
    await answered(pane, "How do I make pancakes?");
    await expect(pane.turn.getByRole("heading", { name: "Pancakes" })).toBeVisible();
    await expect(pane.turn.getByRole("list").first().getByRole("listitem")).toHaveCount(3);
    await expect(pane.turn.getByRole("cell", { name: "200 g" })).toBeVisible();
    await expect(pane.turn).toContainText("<b>whole</b>");
    await expect(pane.turn.getByRole("link", { name: "a book" })).toHaveAttribute(
      "rel",
      "noopener noreferrer nofollow",
    );
    await expect(pane.turn.getByRole("link", { name: "a picture" })).toHaveAttribute(
      "href",
      "https://example.org/a.png",
    );
    await expect(pane.turn.getByText("a trap")).toBeVisible();
    await expect(pane.turn.getByRole("link", { name: "a trap" })).toHaveCount(0);
    expect(elsewhere).toEqual([]);

    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    // The tick stays while the page's clock is stopped.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await button(pane, "Copy code").click();
    await expect(button(pane, "Copied")).toBeVisible();
    expect(await clipboard()).toBe("for (const pancake of pan) pancake.flip();");
    await button(pane, "Copy answer").click();
    await expect.poll(clipboard).toContain("For **four** of them you need:");
  });
});

test("short chats stay in view; only after a long answer does the next question move to the top", async ({ page }) => {
  const app = await App.openFake(page, "panes=2&stepms=3");
  const { log } = app.pane(2);
  /** Pixels of the turns before the newest that are out of view, and those that are empty below it. */
  const measured = async () => {
    await rendered(page);
    return log.evaluate((area) => {
      const foot = area.querySelector("article:last-of-type footer")!.getBoundingClientRect();
      return { hidden: area.scrollTop, empty: area.getBoundingClientRect().bottom - foot.bottom };
    });
  };
  for (const question of [BREAD, FRANCE, FRANCE]) {
    await answered(app.pane(2), question);
    expect((await measured()).hidden).toBe(0);
  }
  for (let turn = 0; turn < 3; turn++) {
    await answered(app.pane(2), FRANCE);
    const { hidden, empty } = await measured();
    expect(hidden).toBeGreaterThan(0);
    expect(empty).toBeLessThan(40);
  }
  await answered(app.pane(2), "Go on.");
  await answered(app.pane(2), FRANCE);
  expect((await measured()).empty).toBeGreaterThan(150);
});

test("the log follows an answer until the reader scrolls up; a waiting pane shows its place in the queue", async ({
  page,
}) => {
  const app = await App.openFake(page, `seqs=1&stepms=20&${ENDLESS}`);
  const pane = app.pane(1);
  await test.step("following stops when the reader scrolls up, until Latest", async () => {
    await answered(pane, FRANCE);
    await pane.ask("Go on and on.");
    await expect.poll(() => pane.log.evaluate((log) => log.scrollTop)).toBeGreaterThan(200);

    await pane.log.evaluate((log) => log.scrollTo(0, 0));
    const latest = pane.region.getByRole("button", { name: "Latest" });
    await expect(latest).toBeVisible();
    const length = (await pane.answer()).length;
    await expect.poll(async () => (await pane.answer()).length).toBeGreaterThan(length + 100);
    expect(await pane.log.evaluate((log) => log.scrollTop)).toBe(0);
    await latest.click();
    await expect(latest).toBeHidden();
    const belowEnd = () => pane.log.evaluate((log) => log.scrollHeight - log.clientHeight - log.scrollTop);
    await expect.poll(belowEnd).toBeLessThan(4);
  });

  await test.step("it also stops for a reader who scrolls up while an answer ends", async () => {
    await expect.poll(() => pane.log.evaluate((log) => log.scrollTop)).toBeGreaterThan(200);
    // Both before the browser says that the log was scrolled.
    await pane.log.evaluate((log) => {
      log.scrollTo(0, 100);
      const buttons = [...document.querySelectorAll("button")];
      buttons.find(({ textContent }) => textContent === "Stop")?.click();
    });
    await expect(pane.ending).toHaveText("Stopped");
    await expect(pane.region.getByRole("button", { name: "Latest" })).toBeVisible();
    expect(await pane.log.evaluate((log) => log.scrollTop)).toBe(100);
  });

  await test.step("a waiting pane shows its place in the queue", async () => {
    await app.addPanes(3);
    for (const number of [1, 2]) await app.pane(number).ask("Go on and on.");
    await app.pane(3).ask(FRANCE);
    await expect(app.pane(2).region).toContainText("1st in queue");
    await expect(app.pane(3).region).toContainText("2nd in queue");
    await app.pane(1).stop.click();
    await expect(app.pane(3).region).toContainText("1st in queue");
    // The wait can be estimated once an answer has finished.
    await app.pane(1).ask("Go on and on.");
    await app.pane(2).stop.click();
    await app.pane(3).finished();
    await app.pane(2).ask("Go on and on.");
    await expect(app.pane(2).region).toContainText(/in queue, about \d+ s/);
  });
});

test("panes that open with a question are scrolled to its end", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  const app = await App.openFake(page, "panes=6&ask&seqs=4&stepms=20&max_tokens=30");
  for (const number of [4, 5]) await app.pane(number).finished();
  await expect(page.getByRole("button", { name: "Latest" })).toHaveCount(0);
});
