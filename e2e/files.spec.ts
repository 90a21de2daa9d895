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

test("exported chats that are dropped can be imported; the menu adds a file", async ({ page }) => {
  const app = await App.openFake(page, "stepms=5");
  const pane = app.pane(1);
  await app.listens();
  const turns = [{ id: 0, question: "Why?", answer: "Because.", end: "stop" }];
  const chat = { number: 1, title: null, settings: {}, turns, firstSent: 0, draft: "" };
  const file = { app: "chorus", version: 1, current: 1, shared: {}, panes: [chat] };
  await drop(pane, "chats.json", JSON.stringify(file, null, 2));
  await said(page, "chats.json has chats that Chorus exported");
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await expect(pane.turn).toContainText("Because.");

  await page.getByRole("button", { name: "More for pane 1" }).click();
  const chosen = page.waitForEvent("filechooser");
  await page.getByRole("menuitem", { name: "Add a file …" }).click();
  await (await chosen).setFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") });
  await expect(pane.message).toHaveValue("list.csv:\n```csv\na,b\n1,2\n```\n\n");

  await drop(pane, "book.txt", "word\n".repeat(9000));
  await said(page, "of 44,999 characters");
  expect(await pane.message.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop)).toBeLessThan(2);
});

test("a file that is dropped on the page of serving does not replace the app", async ({ page }) => {
  await App.openFake(page, "#/serving");
  await expect(page.getByRole("button", { name: "Apply" })).toBeVisible();
  const isKept = await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["a"], "a.txt"));
    return !document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
  });
  expect(isKept).toBe(true);
});
