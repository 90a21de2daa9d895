// Whatever a model wrote or a file brought, the page shows it and goes on: the chats are kept, so it would come again with
// each reload.

import { expect, test } from "playwright/test";
import { App, type Pane } from "./support/app.ts";
import { overwrite, recordsOf } from "./support/saved-record.ts";

const turnsOf = (answers: readonly string[]) =>
  answers.map((answer, id) => ({ id, question: `Question ${id}`, answer, end: "stop" }));

test("answers without measure, a chat of 5,000 turns, and an answer that can't be rendered leave the page usable", async ({
  page,
}) => {
  const answers = [
    `${"- ".repeat(2000)}the end`,
    Array.from({ length: 1000 }, (_, i) => `${"  ".repeat(i)}- the end`).join("\n"),
    `the end${" and on".repeat(600_000)}`,
    `${"*a _b ".repeat(1500)}the end${" b_ a*".repeat(1500)}`,
  ];
  await overwrite(page, recordsOf(turnsOf(answers), turnsOf(Array.from({ length: 5000 }, (_, i) => `Answer ${i}`))));
  const app = await App.openFake(page, "keep&stepms=5");
  const [first, second] = [app.pane(1), app.pane(2)];
  const stays = async (pane: Pane) => {
    await pane.ask("What is the capital of France?");
    await expect(pane.turn).toContainText("Paris");
    await pane.finished();
  };

  await test.step("answers without measure", async () => {
    await expect(first.log.getByRole("article").filter({ hasText: "the end" })).toHaveCount(answers.length);
    await stays(first);
  });

  await test.step("a chat of 5,000 turns", async () => {
    await expect(second.turn).toContainText("Answer 4999");
    await expect(second.log.getByRole("article")).toHaveCount(100);
    await second.log.getByRole("button", { name: "Show 100 of 4,900 earlier turns" }).click();
    await expect(second.log.getByRole("article")).toHaveCount(200);
  });

  await test.step("an answer that can't be rendered is shown as it is", async () => {
    // Stands for a fault that nobody knows of yet.
    await page.addInitScript(() => {
      URL.canParse = () => {
        throw new Error("A fault.");
      };
    });
    await overwrite(page, recordsOf(turnsOf(["See [this](https://example.org/) **now**."])));
    await App.openFake(page, "keep&stepms=5");
    await expect(first.turn).toContainText("See [this](https://example.org/) **now**.");
    await stays(first);
  });
});
