// The list of chats at the side of a wide window, and who answers in a pane's head.

import { expect, test, type Page } from "playwright/test";
import { App } from "./support/app.ts";
import { axeFindings } from "./support/axe.ts";
import { shifts, watchShifts } from "./support/shifts.ts";

const FRANCE = "What is the capital of France?";
const BREAD = "Why does bread rise?";

const side = (page: Page) => page.getByRole("navigation", { name: "Chats" });
const row = (page: Page, title: string) => side(page).getByRole("button", { name: title, exact: false }).first();

test("the list at the side follows the chats and opens them; it is hidden and shown again", async ({ page }) => {
  await watchShifts(page);
  const app = await App.openFakeAsFound(page, "keep&stepms=5");
  const [pane, second] = [app.pane(1), app.pane(2)];
  await expect(side(page)).toContainText("Your chats are kept here");
  // It is there, and the box has the focus.
  await expect(pane.message).toBeFocused();

  await test.step("it follows the chats, opens one in the current pane or with Ctrl beside it, and nothing moves while answers grow", async () => {
    await pane.ask(FRANCE);
    await expect(row(page, FRANCE)).toHaveAttribute("aria-current", "true");
    const before = await shifts(page);
    await pane.finished();
    expect((await shifts(page)) - before).toBeLessThan(0.01);
    await page.keyboard.press("Control+Shift+O");
    await pane.ask(BREAD);
    await pane.finished();
    await expect(side(page).getByRole("heading")).toHaveText(["Chats", "Open", "Today"]);

    await side(page).getByRole("searchbox", { name: "Words in the chat" }).fill("paris");
    await expect(side(page).locator("mark")).toHaveText("Paris");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect(pane.turn).toContainText("Paris");
    await expect(pane.message).toBeFocused();
    await side(page).getByRole("searchbox", { name: "Words in the chat" }).fill("");
    await row(page, BREAD).click({ modifiers: ["Control"] });
    await expect(second.turn).toContainText("Yeast is alive");
    await expect(pane.turn).toContainText("Paris");
    await row(page, FRANCE).click();
    await expect(pane.message).toBeFocused();
    expect(await axeFindings(page, "nav")).toEqual([]);
  });

  await test.step("that it is hidden is remembered; a narrow window has the dialog", async () => {
    await side(page).getByRole("button", { name: "Hide the list of chats" }).click();
    await expect(side(page)).toBeHidden();
    await expect(pane.message).toBeFocused();
    await App.openFakeAsFound(page, "panes=1");
    await expect(pane.message).toBeVisible();
    await expect(side(page)).toBeHidden();
    const button = page.getByRole("button", { name: "Chats", exact: true });
    await button.click();
    await expect(button).toHaveAttribute("aria-expanded", "true");
    await expect(side(page).getByRole("searchbox")).toBeFocused();
    await page.setViewportSize({ width: 1100, height: 800 });
    await expect(side(page)).toBeHidden();
    await button.click();
    await expect(page.getByRole("dialog", { name: "Chats" })).toBeVisible();
  });
});

test("the head of a pane says who answers it, and changes the model of all panes, which it says before", async ({
  page,
}) => {
  const app = await App.openFake(page, "panes=2&mbps=1000");
  await expect(app.pane(1).message).toHaveAttribute("placeholder", "Message to fake-gpt");
  await page.getByRole("button", { name: /^Model: / }).click();
  const dialog = page.getByRole("dialog", { name: "Models" });
  const model = dialog.getByRole("listitem", { name: "GPT-2 (124M)", exact: true });
  await model.getByRole("button", { name: "Download" }).click();
  await expect(model.getByText("On this computer, 250 MB")).toBeVisible();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Pane 2 is answered by fake-gpt" }).click();
  const menu = page.getByRole("menu", { name: "Pane 2 is answered by fake-gpt" });
  await expect(menu.getByRole("menuitemradio", { name: "fake-gpt (this page)" })).toBeChecked();
  await expect(menu.getByText("All panes of this page will use")).toBeVisible();
  expect(await axeFindings(page, "[role=menu]")).toEqual([]);
  await page.keyboard.press("ArrowDown");
  await expect(menu.getByRole("menuitem", { name: "All panes of this page will use GPT-2 (124M)" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Pane 1 is answered by gpt2" })).toBeVisible();
  await expect(app.pane(2).message).toHaveAttribute("placeholder", "Message to gpt2");
});
