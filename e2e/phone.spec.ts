import { expect, test } from "playwright/test";
import { App } from "./support/app.ts";

test.use({ viewport: { width: 390, height: 844 } });

test("on a phone the tab of the pane in view can be seen, however many there are", async ({ page }) => {
  const app = await App.open(page);
  await app.addPanes(16);
  const tab = (number: number) => page.getByRole("tab", { name: `Pane ${number}:` });
  await expect(tab(16)).toBeInViewport({ ratio: 0.95 });
  await expect(app.pane(16).region).toBeVisible();
  // The batch's tab comes after the last pane's, and the first pane's after that.
  await tab(16).press("ArrowRight");
  await page.getByRole("tab", { name: "Batch" }).press("ArrowRight");
  await expect(tab(1)).toBeFocused();
  await expect(tab(1)).toBeInViewport({ ratio: 0.95 });
});
