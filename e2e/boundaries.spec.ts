// An error while a part of the page is rendered stays in that part, which says that the chats are safe and how to go on.

import { expect, test, type Locator, type Page } from "playwright/test";
import { App } from "./support/app.ts";

declare global {
  interface Window {
    brokenWords: string;
  }
}

/** Throws whenever React writes these words into the page; "" ends that. */
async function breakWords(page: Page, words: string): Promise<void> {
  await page.evaluate((broken) => {
    const isFirst = !("brokenWords" in globalThis);
    window.brokenWords = broken;
    if (!isFirst) return;
    const check = (text: unknown) => {
      if (window.brokenWords !== "" && String(text).includes(window.brokenWords)) throw new Error("Broken by the test");
    };
    const create = Reflect.get<Document, "createTextNode">(Document.prototype, "createTextNode");
    Document.prototype.createTextNode = function (text) {
      check(text);
      return create.call(this, text);
    };
    const set = Reflect.get<Element, "setAttribute">(Element.prototype, "setAttribute");
    Element.prototype.setAttribute = function (name, value) {
      check(value);
      set.call(this, name, value);
    };
    const own = Object.getOwnPropertyDescriptor(Node.prototype, "textContent")!;
    Object.defineProperty(Node.prototype, "textContent", {
      ...own,
      set(text) {
        check(text);
        own.set!.call(this, text);
      },
    });
  }, words);
}

/** Expects a part to show its error; retrying brings the part back. */
async function failsAndComesBack(page: Page, home: Locator, name: string, comesBack: Locator): Promise<void> {
  const failed = home.getByRole("alert").filter({ hasText: `${name} can’t be shown` });
  await expect(failed).toContainText("Your chats are safe");
  await expect(failed.getByRole("button", { name: "Reload the page" })).toBeVisible();
  await failed.getByRole("button", { name: "Try again" }).click();
  await expect(failed).toBeVisible();
  await breakWords(page, "");
  await failed.getByRole("button", { name: "Try again" }).click();
  await expect(failed).toBeHidden();
  await expect(comesBack).toBeVisible();
}

test("an error in a pane's chat, in its head, in the batch or in a page leaves the rest as it was", async ({
  page,
}) => {
  const app = await App.openFake(page, "panes=2&stepms=5&keep");
  await app.pane(2).ask("What is the capital of France?");
  await app.pane(2).finished();

  await breakWords(page, "Regenerate");
  await app.pane(1).ask("Why does bread rise?");
  await expect(app.pane(1).region.getByRole("button", { name: "Close pane 1" })).toBeVisible();
  expect(await app.pane(2).answer()).toContain("Paris");
  const download = page.waitForEvent("download");
  await app.pane(1).region.getByRole("button", { name: "Export the chats" }).click();
  expect((await download).suggestedFilename()).toBe("chorus-chats.json");
  await failsAndComesBack(page, app.pane(1).region, "This chat", app.pane(1).message);
  await app.pane(1).finished();

  await breakWords(page, "Close pane 3");
  await page.getByRole("button", { name: "Add pane" }).click();
  await failsAndComesBack(page, app.pane(3).region, "This pane", app.pane(3).message);

  await breakWords(page, "Expand Batch");
  await app.batch.getByRole("button", { name: "Collapse Batch" }).click();
  await failsAndComesBack(page, page.getByRole("main"), "The batch", app.batch);

  for (const [hash, words] of [
    ["#/demo", "questions, twice"],
    ["#/bench", "How fast is it here"],
    ["#/serving", "How the engine shares"],
    ["#/player", "Play a recording"],
  ] as const) {
    await breakWords(page, words);
    await page.evaluate((to) => (location.hash = to), hash);
    await failsAndComesBack(page, page.locator("#root"), "This page", page.getByRole("main"));
    if (hash !== "#/demo") continue;
    await breakWords(page, "Collapse Batch");
    await app.batch.getByRole("button", { name: "Expand Batch" }).click();
    await failsAndComesBack(page, page.getByRole("main"), "The batch", app.batch);
    await expect(page.getByRole("region", { name: "Demo" })).toBeVisible();
  }
  await page.evaluate(() => (location.hash = "#/"));
  await breakWords(page, "Theme: light");
  await page.getByRole("button", { name: "Theme: system" }).click();
  await failsAndComesBack(page, page.locator("#root"), "This page", page.getByRole("main"));
  // A failure of the error page itself is caught by the app's own boundary.
  await breakWords(page, "Th");
  await page.evaluate(() => (location.hash = "#/bench"));
  await failsAndComesBack(page, page.locator("#root"), "Chorus", page.getByRole("main"));
});

test("an error in a dialog stays in that dialog, which closes, and opens again", async ({ page }) => {
  const app = await App.openFake(page, "panes=2&stepms=5");
  await app.pane(1).ask("What is the capital of France?");
  await app.pane(1).finished();
  await app.pane(2).message.fill("Why?");
  const press = (name: string | RegExp) => page.getByRole("button", { name }).first().click();
  const command = async (title: string) => {
    await page.keyboard.press("Control+K");
    await page.getByRole("combobox", { name: "Search for a command" }).fill(title);
    await page.keyboard.press("Enter");
  };
  const dialogs: readonly (readonly [name: string, words: string, open: () => Promise<void>])[] = [
    ["Commands", "Search for a command", () => page.keyboard.press("Control+K")],
    ["Help", "Single-key", () => command("Show keyboard shortcuts")],
    ["Chats", "Words in the chat", () => page.keyboard.press("Alt+h")],
    ["Models", "Downloaded models stay", () => press(/^Model:/)],
    ["Models", "Servers that can answer", () => command("Connections to servers")],
    ["Settings for all panes", "A pane can have its own", () => press("Settings for all panes")],
    ["Settings of pane 1", "Preset", () => press(/^Settings of pane 1/)],
    ["About batching", "How the batch works", () => press("About batching")],
    ["Prompt", "Exactly what the model reads", () => command("Show this chat's prompt")],
    ["Send to all", "Send pane 2's draft", () => press("Send to all")],
  ];
  for (const [name, words, open] of dialogs) {
    const dialog = page.getByRole("dialog", { name, exact: true });
    const failed = dialog.getByRole("alert").filter({ hasText: "This dialog can’t be shown" });
    await breakWords(page, words);
    await open();
    await expect(failed, name).toContainText("Your chats are safe");
    await failed.getByRole("button", { name: "Close" }).click();
    await expect(dialog).toBeHidden();
    await breakWords(page, "");
    await open();
    await expect(dialog).toBeVisible();
    await expect(failed).toBeHidden();
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  }
  expect(await app.pane(1).answer()).toContain("Paris");
});
