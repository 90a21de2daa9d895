// Files that are dropped on a pane, or chosen for it: texts, PDFs, exported chats.

import { expect, test, type Page } from "playwright/test";
import { smallPdf } from "../tests/app/small-pdf.ts";
import { App, type Pane } from "./support/app.ts";

const said = (page: Page, words: string) => expect(page.getByRole("status").filter({ hasText: words })).toBeVisible();

async function drop({ region, log }: Pane, name: string, content: string): Promise<void> {
  const dataTransfer = await region.page().evaluateHandle(
    ([file, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], file));
      return data;
    },
    [name, content] as const,
  );
  await log.dispatchEvent("drop", { dataTransfer });
}

test("a PDF's text goes into the question, under the page's policy; what can't be read is said in a sentence", async ({
  page,
}) => {
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  const app = await App.openFake(page, "stepms=5");
  const pane = app.pane(1);
  await app.listens();
  await page.route("**/late/**", (route) => route.abort());
  await drop(pane, "a.pdf", smallPdf("BT /F1 12 Tf (Hello) Tj ET"));
  await said(page, "What reads PDFs is loaded with the first one. Drop a.pdf again when this page is online.");
  await page.unroute("**/late/**");
  problems.length = 0;

  const lines = "BT /F1 12 Tf 10 100 Td (The harbour at night) Tj 0 -20 Td (Second line) Tj ET";
  await drop(pane, "night.pdf", smallPdf(`${lines} BT /F2 12 Tf 10 20 Td <93fa967b> Tj ET`));
  await expect(pane.message).toHaveValue(/^night\.pdf:\n```\nThe harbour at night\nSecond line\n日本\n```\n/);
  await said(page, "night.pdf goes to fake-gpt: ");
  const standard = "<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4";
  const key = "0123456789abcdef".repeat(4);
  for (const [content, words] of [
    [smallPdf(lines, `${standard} /O <${key}> /U <${key}> >>`), "b.pdf can't be read: it is encrypted."],
    [`%PDF-1.7\n${"damaged ".repeat(50)}`, "b.pdf can't be read: it is damaged."],
    [smallPdf("0 0 m 10 10 l S"), "b.pdf has no text: its pages are pictures."],
  ] as const) {
    await drop(pane, "b.pdf", content);
    await said(page, words);
  }
  await expect(pane.message).toHaveValue(/^night\.pdf/);
  expect(problems).toEqual([]);
});

test("texts and exported chats are dropped on a pane or chosen for it; nothing that is dropped replaces the app", async ({
  page,
}) => {
  const app = await App.openFake(page, "panes=2&stepms=5");
  const [pane, second] = [app.pane(1), app.pane(2)];
  await app.listens();

  await test.step("a text goes into the question, cut to what the model reads, and its end is in view", async () => {
    await second.message.fill("What is this?");
    await drop(second, "words.md", "word ".repeat(9000));
    await said(page, "of 44,999 characters");
    await expect(second.message).toHaveValue(/^What is this\?\n\nwords\.md:\n```md\nword word/);
    await expect(second.message).toHaveValue(/room for the first [\d,]+ of 44,999 characters of words\.md/);
    await expect(second.message).toBeFocused();
    const hidden = () => second.message.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop);
    await expect.poll(hidden).toBeLessThan(2);
    await expect(pane.message).toHaveValue("");
  });

  await test.step("what is no text is refused", async () => {
    await drop(pane, "picture.png", "\0\0");
    await said(page, "picture.png is not a text file");
    await expect(pane.message).toHaveValue("");
  });

  await test.step("exported chats can be imported", async () => {
    const turns = [{ id: 0, question: "Why?", answer: "Because.", end: "stop" }];
    const chat = { number: 1, title: null, settings: {}, turns, contextStart: 0, draft: "" };
    const file = { app: "chorus", version: 1, current: 1, shared: {}, panes: [chat] };
    await drop(pane, "chats.json", JSON.stringify(file, null, 2));
    await said(page, "chats.json has chats that Chorus exported");
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await expect(pane.turn).toContainText("Because.");
  });

  await test.step("the menu adds a file", async () => {
    await page.getByRole("button", { name: "More for pane 1" }).click();
    const chosen = page.waitForEvent("filechooser");
    await page.getByRole("menuitem", { name: "Add a file …" }).click();
    await (await chosen).setFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") });
    await expect(pane.message).toHaveValue("list.csv:\n```csv\na,b\n1,2\n```\n\n");
  });

  await test.step("a file that is dropped on the page of serving does not replace the app", async () => {
    await page.evaluate(() => (location.hash = "#/serving"));
    await expect(page.getByRole("button", { name: "Apply" })).toBeVisible();
    const isKept = await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["a"], "a.txt"));
      return !document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
    });
    expect(isKept).toBe(true);
  });
});
