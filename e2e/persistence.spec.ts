import { readFile, truncate, writeFile } from "node:fs/promises";
import { expect, test, type Page } from "playwright/test";
import { App, ENDLESS } from "./support/app.ts";
import { chooseFiles } from "./support/choose-files.ts";
import { neverCommit } from "./support/never-commit.ts";
import { closedAre, overwrite, recordsOf, written } from "./support/saved-record.ts";

const QUERY = "keep&stepms=20";
const ENDLESS_ANSWER = `${QUERY}&${ENDLESS}`;
const FRANCE = "What is the capital of France?";

test("chats, titles, settings, drafts and their order survive a reload, whatever was under way", async ({ page }) => {
  const app = await App.openFake(page, ENDLESS_ANSWER);

  await test.step("they are as they were", async () => {
    await app.addPanes(2);
    await app.pane(1).ask(FRANCE);
    await app.pane(1).finished();
    const answer = await app.pane(1).answer();
    await (await app.openSettings("of pane 1")).getByRole("textbox", { name: "Seed" }).fill("7");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "More for pane 1" }).click();
    await page.getByRole("menuitem", { name: "Move right" }).click();
    await app.pane(2).message.fill("Half a though");
    await written(page, "Half a though");

    await App.openFake(page, ENDLESS_ANSWER);
    const regions = page.getByRole("region", { name: /^Pane \d+$/ });
    await expect(regions).toHaveCount(2);
    await expect(regions.last()).toHaveAccessibleName("Pane 1");
    expect(await app.pane(1).answer()).toBe(answer);
    await expect(app.pane(2).message).toHaveValue("Half a though");
    await expect(app.pane(2).message).toBeFocused();
    await expect((await app.openSettings("of pane 1")).getByRole("textbox", { name: "Seed" })).toHaveValue("7");
    await page.keyboard.press("Escape");
    // The chat can be continued.
    await app.pane(1).ask("Go on and on.");
    await expect(app.pane(1).log.getByRole("article")).toHaveCount(2);
  });

  await test.step("an answer that streamed is kept as interrupted, and can be continued", async () => {
    await expect.poll(async () => (await app.pane(1).answer()).length).toBeGreaterThan(40);
    // Including the last visible word.
    await page.evaluate(() =>
      addEventListener("pagehide", () => {
        const newest = [...document.querySelectorAll<HTMLElement>("[data-answer]")].at(-1);
        localStorage.setItem("seen", newest?.innerText ?? "");
      }),
    );
    await App.openFake(page, ENDLESS_ANSWER);
    await expect(app.pane(1).ending).toHaveText("Interrupted");
    const cut = await app.pane(1).answer();
    const seen = await page.evaluate(() => localStorage.getItem("seen") ?? "");
    expect(seen).toContain("There is more to it");
    expect(cut.startsWith(seen)).toBe(true);
    await app.pane(1).turn.getByRole("button", { name: "Continue" }).click();
    // The next character may be a space or, at a paragraph's end, a line break.
    await expect.poll(async () => (await app.pane(1).answer()).length).toBeGreaterThan(cut.length + 1);
    expect((await app.pane(1).answer()).startsWith(cut)).toBe(true);
  });

  await test.step("a question and a closed chat are there at once, even if the page's last write never arrives", async () => {
    await app.pane(1).stop.click();
    await app.pane(2).message.fill("Closed");
    await written(page, "Closed");
    await page.evaluate(neverCommit);
    await app.pane(1).ask("Go on and on.");
    await expect(app.pane(1).turn).toContainText("There is more");
    await page.getByRole("button", { name: "Close pane 2" }).click();

    const numArticles = await app.pane(1).log.getByRole("article").count();

    await App.openFake(page, ENDLESS_ANSWER);
    await expect(app.pane(1).log.getByRole("article")).toHaveCount(numArticles);
    await expect(app.pane(1).log).toContainText("Go on and on.");
    await expect(app.pane(1).turn).toContainText("There is more");
    await expect(page.getByRole("region", { name: /^Pane \d+$/ })).toHaveCount(1);
    await closedAre(page, 1);
    await page.evaluate(neverCommit);
    await app.pane(1).message.fill("And on");
    // The next page replaces what this one has read by what it has not saved, as it has by what it has saved.
    await App.openFake(page, ENDLESS_ANSWER);
    await expect(app.pane(1).message).toHaveValue("And on");
    await app.pane(1).message.fill("And on and on");
    await written(page, "And on and on");
    await App.openFake(page, ENDLESS_ANSWER);
    await expect(app.pane(1).message).toHaveValue("And on and on");
    await expect(page.getByRole("region", { name: /^Pane \d+$/ })).toHaveCount(1);
  });
});

test("tabs: each saves, keeps its panes, and finds what another one saved, could not write, or left when it was closed", async ({
  page,
  context,
}) => {
  let app = await App.openFake(page, QUERY);
  await app.pane(1).message.fill("Ours");
  await written(page, "Ours");
  const second = await context.newPage();
  let secondApp = await App.openFake(second, QUERY);
  const panesOf = (tab: Page) => tab.getByRole("region", { name: /^Pane \d+$/ });

  await test.step("what a tab could not write before its reload is there, beside what another tab saved of the same chat", async () => {
    await expect(secondApp.pane(1).message).toHaveValue("Ours");
    await secondApp.pane(1).message.fill("Mine");
    await written(second, "Mine");
    await page.evaluate(neverCommit);
    await app.pane(1).message.fill("Yours");
    app = await App.openFake(page, QUERY);
    await expect(app.pane(1).message).toHaveValue("Mine");
    await expect(app.pane(2).message).toHaveValue("Yours");
    await expect(panesOf(page)).toHaveCount(2);
  });

  await test.step("of a chat that both change each goes on with its own, and the second says so", async () => {
    await secondApp.addPanes(2);
    await secondApp.pane(2).message.fill("Another chat");
    await app.pane(1).message.fill("Theirs");
    await written(page, "Theirs");
    await written(second, "Another chat");
    await secondApp.pane(1).message.fill("His");
    const said = "Another tab changed this chat, too";
    await expect(second.getByText(said)).toBeVisible();
    await expect(secondApp.pane(1).region).toContainText("New chat (changed in another tab)");
    await app.pane(1).message.fill("Theirs, on");
    await secondApp.pane(1).message.fill("His, on");
    await written(page, "Theirs, on");
    await written(second, "His, on");
    await expect(page.getByText(said)).toBeHidden();
  });

  await test.step("which panes are open belongs to the tab", async () => {
    app = await App.openFake(page, QUERY);
    secondApp = await App.openFake(second, QUERY);
    await expect(app.pane(1).message).toHaveValue("Theirs, on");
    await expect(app.pane(2).message).toHaveValue("Yours");
    await expect(panesOf(page)).toHaveCount(2);
    await expect(secondApp.pane(1).message).toHaveValue("His, on");
    await expect(secondApp.pane(2).message).toHaveValue("Another chat");
    await expect(panesOf(second)).toHaveCount(2);
  });

  await test.step("what was said in a tab is in the list of chats after it was closed", async () => {
    await app.pane(1).ask(FRANCE);
    await app.pane(1).finished();
    await page.close({ runBeforeUnload: true });
    await secondApp.pane(1).message.fill("Mine");
    await written(second, "Mine");
    // What the closing page could not write is found by the next start.
    await App.openFake(second, QUERY);
    await secondApp.listens();
    await second.keyboard.press("Alt+h");
    const list = second.getByRole("dialog", { name: "Chats" });
    await list.getByRole("button", { name: FRANCE }).first().click();
    await expect(second.getByRole("main")).toContainText("The capital of France is Paris.");
  });
});

test("the page works, and says what is wrong, where its chats can't be saved or read", async ({ page }) => {
  // Not by the browser's quota: Chromium 150 takes another one, and says nothing.
  await page.addInitScript(() => {
    const put = Reflect.get(IDBObjectStore.prototype, "put") as (...given: unknown[]) => IDBRequest<IDBValidKey>;
    IDBObjectStore.prototype.put = function putWithinSpace(...given: unknown[]) {
      if (Reflect.get(window, "isDiskFull") === true) throw new DOMException("Full.", "QuotaExceededError");
      return put.apply(this, given);
    };
  });
  const app = await App.openFake(page, QUERY);

  await test.step("a full disk is said at once, and everything is saved as soon as there is space", async () => {
    const fillDisk = (isFull: boolean) => page.evaluate((full) => void Reflect.set(window, "isDiskFull", full), isFull);
    await app.pane(1).message.fill("A first thought");
    await written(page, "A first thought");
    await fillDisk(true);
    await app.pane(1).message.fill("A second thought");
    await expect(page.getByText("Not saved:")).toBeVisible();
    const exported = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export the chats" }).click();
    expect(await readFile(await (await exported).path(), "utf8")).toContain("A second thought");
    await fillDisk(false);
    await expect(page.getByText("Not saved:")).toBeHidden();
    await written(page, "A second thought");
  });

  await test.step("chats survive that their database is deleted while they are open", async () => {
    await app.pane(1).ask(FRANCE);
    await app.pane(1).finished();
    await written(page, '"end":"stop"');
    const outcome = await page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const deleting = indexedDB.deleteDatabase("chorus");
          deleting.addEventListener("success", () => resolve("deleted"));
          deleting.addEventListener("error", () => resolve("refused"));
        }),
    );
    expect(outcome).toBe("deleted");
    await app.pane(1).message.fill("Still here");
    await written(page, "Still here");
    await App.openFake(page, QUERY);
    await expect(app.pane(1).turn).toContainText("Paris");
  });

  const chats = async () => {
    await app.pane(1).ask(FRANCE);
    await expect(app.pane(1).turn).toContainText("Paris");
  };

  // Other damages: chat-saver.test.ts.
  await test.step("a damaged record is set aside", async () => {
    await overwrite(page, { ...recordsOf([]), panes: "nonsense" });
    await App.openFake(page, QUERY);
    await expect(page.getByText("Your earlier chats could not be read.")).toBeVisible();
    await chats();
  });

  await test.step("a browser that lets the page save nothing", async () => {
    await page.addInitScript(() => {
      IDBFactory.prototype.open = () => {
        throw new DOMException("No.", "SecurityError");
      };
    });
    await App.openFake(page, QUERY);
    await expect(page.getByText("this browser doesn't let the page save its chats")).toBeVisible();
    await chats();
  });
});

test("chats are exported and imported, unless a file is broken or too large; one is saved as Markdown", async ({
  page,
}, testInfo) => {
  const app = await App.openFake(page, "panes=2&stepms=5");
  await app.pane(1).ask(FRANCE);
  await app.pane(1).finished();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "More for pane 1" }).click();
  await page.getByRole("menuitem", { name: "Save as Markdown" }).click();
  const markdown = await saved;
  expect(markdown.suggestedFilename()).toBe("What-is-the-capital-of-France.md");
  expect(await readFile(await markdown.path(), "utf8")).toBe(
    `# ${FRANCE}\n\n## ${FRANCE}\n\nThe capital of France is Paris.\n`,
  );

  await page.getByRole("button", { name: "Settings for all panes" }).click();
  const exported = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export all chats" }).click();
  const file = await (await exported).path();
  await page.keyboard.press("Escape");

  // Pane 2 is empty and is replaced. Its tokens are counted, as those of a chat that was asked here.
  const count = (number: number) => app.pane(number).region.getByText(/^\d+ of [\d,]+ tokens$/);
  await expect(count(1)).not.toHaveText(await count(2).innerText());
  await page.getByRole("button", { name: "Settings for all panes" }).click();
  await chooseFiles(page, "Import …", file);
  await expect(page.getByText("2 chats were opened.")).toBeVisible();
  await chooseFiles(page, "Import …", {
    name: "broken.json",
    mimeType: "application/json",
    buffer: Buffer.from(
      '{"app":"chorus","version":1,"current":1,"shared":{},"panes":[{"title":null,"settings":{},"turns":[{"id":0}]}]}',
    ),
  });
  await expect(page.getByRole("alert")).toContainText("panes[0].turns[0].question is missing. Nothing was changed.");
  const large = testInfo.outputPath("chats.json");
  await writeFile(large, "");
  await truncate(large, 129 * 2 ** 20);
  await chooseFiles(page, "Import …", large);
  await expect(page.getByRole("alert")).toContainText("The file has 129 MB; at most 128 MB of chats can be opened.");
  await page.keyboard.press("Escape");
  const regions = page.getByRole("region", { name: /^Pane \d+$/ });
  await expect(regions).toHaveCount(3);
  await expect(regions.nth(1)).toContainText("The capital of France is Paris.");
  const imported = regions.nth(1).getByText(/^\d+ of [\d,]+ tokens$/);
  await expect.poll(() => imported.innerText()).toBe(await count(1).innerText());
});

test("closed chats are found by words and days, opened, and deleted by asking; they survive a reload", async ({
  page,
}) => {
  let app = await App.openFake(page, QUERY);
  await app.pane(1).ask(FRANCE);
  await app.pane(1).finished();
  await page.getByRole("button", { name: "Close pane 1" }).click();
  // More than are shown at once, of an earlier year.
  const chat = (number: number) => ({
    title: null,
    settings: {},
    turns: [{ id: 0, question: `Question ${number}`, answer: `Crème ${number}`, end: "stop" }],
    contextStart: 0,
    draft: "",
    askedMs: new Date(2020, 5, 15, 12).getTime(),
  });
  const closed = Array.from({ length: 150 }, (_, number) => chat(number));
  const file = { app: "chorus", version: 1, current: 1, shared: {}, panes: [{ number: 1, ...chat(150) }], closed };
  await page.getByRole("button", { name: "Settings for all panes" }).click();
  await chooseFiles(page, "Import …", {
    name: "chats.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(file)),
  });
  await expect(page.getByText("1 chat was opened. 150 chats were added to the list of chats.")).toBeVisible();
  await page.keyboard.press("Escape");
  await closedAre(page, 151);

  app = await App.openFake(page, QUERY);
  await app.listens(2);
  await page.keyboard.press("Alt+h");
  const list = page.getByRole("dialog", { name: "Chats" });
  const rows = list.getByRole("listitem").filter({ has: page.getByRole("button") });
  await expect(list.getByText("152 chats")).toBeVisible();
  await expect(list.getByRole("heading", { name: "Open", exact: true })).toBeVisible();
  expect(await rows.count()).toBeLessThan(40);
  const words = list.getByRole("searchbox", { name: "Words in the chat" });
  await expect(words).toBeFocused();
  await words.fill("cre");
  await expect(rows.first().locator("mark")).toHaveText("Crème");
  await words.fill("creme 14");
  await expect(list.getByText("11 chats found")).toBeVisible();
  await words.press("ArrowDown");
  await page.keyboard.press("End");
  await expect(rows.last().getByRole("button").first()).toBeFocused();
  await page.keyboard.press("Home");
  await expect(rows.first().getByRole("button").first()).toBeFocused();
  await words.fill("paris capital");
  await expect(list.getByText("1 chat found")).toBeVisible();
  await words.fill("");
  await list.getByLabel("to", { exact: true }).fill("2020-06-15");
  await expect(list.getByText("151 chats found")).toBeVisible();
  await list.getByLabel("to", { exact: true }).fill("2020-06-14");
  await expect(list.getByText("No chat was found.")).toBeVisible();
  await list.getByLabel("to", { exact: true }).fill("");

  await list.getByLabel("From").fill("2021-01-01");
  await words.press("ArrowDown");
  await expect(rows.getByRole("button", { name: FRANCE, exact: false }).first()).toBeFocused();
  await page.keyboard.press("Control+Enter");
  await expect(list).toBeHidden();
  await expect(app.pane(1).turn).toContainText("Paris");
  await expect(app.pane(1).message).toBeFocused();
  await closedAre(page, 150);

  await page.keyboard.press("Alt+h");
  await words.fill("question 77");
  await list.getByRole("button", { name: "Delete Question 77" }).click();
  await expect(list.getByRole("button", { name: "Keep" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(list.getByRole("button", { name: "Delete Question 77" })).toBeFocused();
  await page.keyboard.press("Enter");
  await list.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(list.getByText("0 chats found")).toBeVisible();
  await closedAre(page, 149);
});
