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

test("in a low dock pictures make room for the words, which are all there", async ({ page }) => {
  const app = await App.openFake(page);
  await app.listens();
  const ideas = ideasOf(page);
  const look = async () =>
    ideas.getByRole("listitem").evaluateAll((items) =>
      items.map((item) => {
        const card = item.firstElementChild!;
        const picture = card.querySelector("svg")!.getBoundingClientRect().height;
        return { picture, hidden: card.scrollHeight - card.clientHeight };
      }),
    );
  interface Seen {
    readonly width: number;
    readonly px: number;
    readonly picture: number;
    readonly hidden: number;
  }
  const seen: Seen[] = [];
  for (const width of [1280, 720]) {
    for (const px of [160, 200, 240, 280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate((height) => {
        localStorage.clear();
        localStorage.setItem("chorus.dock.height", `${height}`);
      }, px);
      await page.reload();
      await app.listens();
      await expect(ideas.getByRole("listitem")).toHaveCount(3);
      for (const card of await look()) seen.push({ width, px, ...card });
    }
  }
  const isSpeck = ({ picture }: Seen) => picture > 0 && picture < 36;
  expect(seen.filter((card) => card.hidden > 0 || isSpeck(card))).toEqual([]);
});
