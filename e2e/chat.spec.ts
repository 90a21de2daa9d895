import { expect, test } from "playwright/test";
import { App, ENDLESS, ON_GPU, type Pane } from "./support/app.ts";
import { axeFindings } from "./support/axe.ts";
import { Steps } from "./support/steps.ts";

test("a question streams an answer on a GPU: its text grows before it has ended; what computes can be changed, and the answer stays", async ({
  page,
}) => {
  const sendModel = await App.holdModel(page);
  const app = await App.open(page, `${ON_GPU}&temperature=0&max_tokens=48`);
  const pane = app.pane(1);
  const steps = await Steps.hold(page, "now");
  // Asked before the model is loaded: the question waits.
  await pane.ask("Tell me a story about a fox.");
  await expect(pane.stop).toBeVisible();
  sendModel();
  // The known answers, which are computed first, and some of this one.
  await steps.allow(16);

  const length = async () => (await pane.answer()).length;
  for (let seen = 0, times = 0; times < 4; times++) {
    await steps.allow(4);
    await expect.poll(length).toBeGreaterThan(seen);
    seen = await length();
    await expect(pane.stop).toBeVisible();
  }
  await steps.release();
  await pane.finished();
  const answer = await pane.answer();
  expect(answer).toContain("fox");
  await expect(pane.region).toContainText(/[1-9]\S* tok\/s/);
  await expect(pane.region).toContainText(/TTFT [1-9]\S* ms/);
  await expect(pane.region).toContainText(/[1-9]\d* tokens/);

  await expect(page.getByText(/\(software\)/)).toBeVisible();
  // The GPU is a software adapter here, so the CPU is faster.
  await page.getByLabel("Runs on").selectOption("auto");
  await expect(page.getByText(/^CPU, \d+ threads?$/)).toBeVisible();
  expect(await pane.answer()).toBe(answer);
});

test("a second question is answered in the light of the first", async ({ page }) => {
  const app = await App.open(page, "temperature=0");
  const pane = app.pane(1);
  await pane.ask("My name is Anna.");
  await pane.finished();
  await pane.ask("What is my name?");
  await pane.finished();
  await expect(pane.log).toContainText("My name is Anna.");
  expect(await pane.answer()).toContain("Anna");
});

test("Enter sends; one message goes to all panes at once", async ({ page }) => {
  const app = await App.openFake(page, "stepms=20");
  const panes = await app.addPanes(3);
  await page.getByRole("button", { name: "Send to all" }).click();
  const sheet = page.getByRole("dialog", { name: "Send to all" });
  const ticked = sheet.getByRole("checkbox", { checked: true });
  await sheet.getByRole("button", { name: "None" }).click();
  await expect(ticked).toHaveCount(0);
  await sheet.getByRole("button", { name: "All", exact: true }).click();
  await expect(ticked).toHaveCount(3);
  await sheet.getByRole("textbox", { name: "Message" }).fill("What is the capital of France?");
  await sheet.getByRole("textbox", { name: "Message" }).press("Enter");
  for (const pane of panes) {
    await pane.finished();
    expect(await pane.answer()).toContain("Paris");
  }
});

test("the sheet of one message for all closes without losing the message, and stops no answer", async ({ page }) => {
  const app = await App.openFake(page, ENDLESS);
  await app.addPanes(2);
  await app.pane(1).ask("Why?");
  await expect(app.pane(1).stop).toBeVisible();
  const button = page.getByRole("button", { name: "Send to all" });
  const sheet = page.getByRole("dialog", { name: "Send to all" });
  const message = sheet.getByRole("textbox", { name: "Message" });
  await button.click();
  await message.fill("And why not?");
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  await expect(button).toBeFocused();
  await button.press("Enter");
  await expect(message).toBeFocused();
  await expect(message).toHaveValue("And why not?");
  await button.click();
  await expect(sheet).toBeHidden();
  await button.click();
  await sheet.getByRole("button", { name: "Send" }).focus();
  await page.keyboard.press("Tab");
  await expect(sheet).toBeHidden();
  await expect(app.pane(1).stop).toBeVisible();
});

test("an answer's figures show on request, on a desktop and on a phone", async ({ page }) => {
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(viewport);
    const app = await App.openFake(page, "stepms=5");
    const pane = app.pane(1);
    await pane.ask("What is the capital of France?");
    await pane.finished();
    const button = pane.turn.getByRole("button", { name: "Figures" });
    const figures = pane.turn.locator("dl");
    await expect(button).toHaveAttribute("aria-expanded", "false");
    await expect(figures).toBeHidden();
    await button.press("Enter");
    await expect(button).toHaveAttribute("aria-expanded", "true");
    await expect(figures).toBeInViewport({ ratio: 1 });
    await expect(figures).toContainText("First token97 ms");
    await expect(figures).toContainText("Batch5.2, at most 8");
    await expect(figures).toContainText("51 of 80, 64%");
    await button.press("Enter");
    await expect(figures).toBeHidden();
    await expect(pane.message).toBeVisible();
  }
});

test("a copy of a pane with another seed, asked the same, marks the first word that differs", async ({ page }) => {
  const app = await App.open(page, "seed=1&max_tokens=24");
  await page.getByRole("button", { name: "More for pane 1" }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await (await app.openSettings("of pane 2")).getByRole("textbox", { name: "Seed" }).fill("2");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Send to all" }).click();
  await page.getByRole("dialog", { name: "Send to all" }).getByRole("textbox").fill("Tell me a story about a fox");
  await page.keyboard.press("Enter");
  const told = /Differs from pane \d at word \d+: “(\S+)”, there “(\S+)”/;
  await expect(app.pane(2).turn.getByText(told)).toBeVisible();
  const [, own, other] = told.exec(await app.pane(2).turn.innerText()) ?? [];
  await expect(app.pane(1).turn).toContainText(`“${other}”, there “${own}”`);
  const marked = await page.evaluate(() =>
    Array.from(CSS.highlights.get("differs") ?? [], ({ startContainer, startOffset, endOffset }) =>
      startContainer.textContent?.slice(startOffset, endOffset),
    ),
  );
  expect(marked.toSorted()).toEqual([own, other].toSorted());
  for (const number of [1, 2]) expect(await axeFindings(page, `[aria-label="Pane ${number}"]`)).toEqual([]);
});

test("a thought is seen while it grows, and folded when it is over; it opens again", async ({ page }) => {
  const app = await App.openFake(page, "panes=2&stepms=20");
  const [thinking, over] = [app.pane(1), app.pane(2)];
  await thinking.ask("Think without end.");
  await expect(thinking.turn.getByText("Hm. Hm. Hm.")).toBeVisible();
  await thinking.turn.getByText("Thinking…").click();
  await expect(thinking.turn.getByText("Hm. Hm. Hm.")).toBeHidden();

  await over.ask("What is six times seven?");
  await expect(over.turn).toContainText("It is 42.");
  await expect(over.turn.getByText("Six sevens are wanted.")).toBeHidden();
  await over.turn.getByText("Thoughts").click();
  await expect(over.turn.getByText("Six sevens are wanted.")).toBeVisible();
});

test("a text that is dropped on a pane goes into its question, cut to what the model reads; no text is refused", async ({
  page,
}) => {
  const app = await App.openFake(page, "panes=2&stepms=20&context=200");
  const drop = async (pane: Pane, content: string, name: string) => {
    const dataTransfer = await page.evaluateHandle(
      ([text, file]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], file));
        return data;
      },
      [content, name] as const,
    );
    await pane.log.dispatchEvent("drop", { dataTransfer });
  };
  const second = app.pane(2);
  await second.message.fill("What is this?");
  await drop(second, "word ".repeat(500), "words.md");
  await expect(second.message).toHaveValue(/^What is this\?\n\nwords\.md:\n```md\nword word/);
  await expect(second.message).toHaveValue(/room for the first [\d,]+ of 2,499 characters of words\.md/);
  await expect(second.message).toBeFocused();
  await expect(app.pane(1).message).toHaveValue("");
  await drop(app.pane(1), "\0\0", "picture.png");
  await expect(page.getByRole("status").filter({ hasText: "picture.png is not a text file" })).toBeVisible();
  await expect(app.pane(1).message).toHaveValue("");
});
