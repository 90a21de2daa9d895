// Whatever a model wrote or a file brought, the page shows it and goes on: the chats are kept, so it would come again with
// each reload.

import { truncate, writeFile } from "node:fs/promises";
import { expect, test } from "playwright/test";
import { App } from "./support/app.ts";
import { chooseFiles } from "./support/choose-files.ts";
import { overwrite, recordsOf } from "./support/saved-record.ts";

const QUERY = "keep&stepms=5";

const turnsOf = (answers: readonly string[]) =>
  answers.map((answer, id) => ({ id, question: `Question ${id}`, answer, end: "stop" }));

test("answers without measure leave the page usable", async ({ page }) => {
  const answers = [
    `${"- ".repeat(2000)}the end`,
    Array.from({ length: 1000 }, (_, i) => `${"  ".repeat(i)}- the end`).join("\n"),
    `the end${" and on".repeat(600_000)}`,
    `${"*a _b ".repeat(1500)}the end${" b_ a*".repeat(1500)}`,
  ];
  await overwrite(page, recordsOf(turnsOf(answers)));
  const app = await App.openFake(page, QUERY);
  await expect(app.pane(1).log.getByRole("article").filter({ hasText: "the end" })).toHaveCount(answers.length);
  await app.pane(1).ask("What is the capital of France?");
  await expect(app.pane(1).turn).toContainText("Paris");
});

test("a chat of 5,000 turns leaves the page usable", async ({ page }) => {
  await overwrite(page, recordsOf(turnsOf(Array.from({ length: 5000 }, (_, i) => `Answer ${i}`))));
  const app = await App.openFake(page, QUERY);
  await expect(app.pane(1).turn).toContainText("Answer 4999");
  await expect(app.pane(1).log.getByRole("article")).toHaveCount(100);
  await app.pane(1).log.getByRole("button", { name: "Show 100 of 4,900 earlier turns" }).click();
  await expect(app.pane(1).log.getByRole("article")).toHaveCount(200);
});

test("an answer that can't be rendered is shown as it is", async ({ page }) => {
  // Stands for a fault that nobody knows of yet.
  await page.addInitScript(() => {
    URL.canParse = () => {
      throw new Error("A fault.");
    };
  });
  await overwrite(page, recordsOf(turnsOf(["See [this](https://example.org/) **now**."])));
  const app = await App.openFake(page, QUERY);
  await expect(app.pane(1).turn).toContainText("See [this](https://example.org/) **now**.");
  await app.pane(1).ask("What is the capital of France?");
  await expect(app.pane(1).turn).toContainText("Paris");
});

test("a file of chats that is too large is refused", async ({ page }, testInfo) => {
  await App.openFake(page, QUERY);
  await page.getByRole("button", { name: "Settings for all panes" }).click();
  const path = testInfo.outputPath("chats.json");
  await writeFile(path, "");
  await truncate(path, 129 * 2 ** 20);
  await chooseFiles(page, "Import …", path);
  await expect(page.getByRole("alert")).toContainText("The file has 129 MB; at most 128 MB of chats can be opened.");
});

test("a long draft is laid out as one text of one direction, after a reload, too", async ({ page }) => {
  const app = await App.openFake(page, "keep");
  const long = `${"word ".repeat(200)}\n`.repeat(100);
  const { message } = app.pane(1);
  await message.fill(long);
  await expect(message).toHaveValue(long);
  await page.reload();
  await expect(message).toHaveValue(long);
  // For a pasted megabyte one element per paragraph took 5 s, and again at each reload. Looking for the direction of all lines
  // with each line took a minute.
  await app
    .pane(1)
    .region.getByRole("button", { name: /^Settings of pane 1/ })
    .click();
  const boxes = page.locator("textarea");
  await expect(boxes.nth(2)).toBeVisible();
  for (const box of await boxes.all()) {
    await expect(box).toHaveCSS("unicode-bidi", "isolate");
    await expect(box).toHaveAttribute("dir", "ltr");
  }
  await page.keyboard.press("Escape");
  await message.fill("\u05e9\u05dc\u05d5\u05dd");
  await expect(message).toHaveCSS("direction", "rtl");
});
