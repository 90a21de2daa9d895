// The ideas of the first visit.

import { expect, test, type Page } from "playwright/test";
import { App } from "./support/app.ts";

const ideasOf = (page: Page) => page.getByRole("region", { name: "Ideas to try" });

test("four can't be asked where sixteen panes are in use, and the page says so", async ({ page }) => {
  const app = await App.openFake(page, "panes=16");
  for (let number = 1; number <= 16; number++) await app.pane(number).message.fill("Mine");
  await ideasOf(page)
    .getByRole("button", { name: /^Ask four/ })
    .click();
  await expect(page.getByText("16 panes are open: close one first")).toBeInViewport({ timeout: 10_000 });
});
