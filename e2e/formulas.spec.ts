// Formulas and code as models write them. What draws them loads when the first answer has some.

import { expect, test, type Page } from "playwright/test";
import { App } from "./support/app.ts";
import { overwrite, recordsOf } from "./support/saved-record.ts";

const ANSWER = String.raw`Where \( a+b \) is $c_1$, it costs $5 and $6:

\[
\frac{1}{2} = \int_0^1 x\,dx
\]

\[ \nonsense{ \]

${"```python\ndef area(r):  # of a disk\n    return 3.14 * r ** 2\n```"}`;

async function openAnswer(page: Page): Promise<App> {
  await overwrite(page, recordsOf([{ id: 0, question: "What is a half?", answer: ANSWER, end: "stop" }]));
  return App.openFake(page, "keep&stepms=5");
}

test("formulas are drawn, and read as MathML; code has colours; a page without them loads neither", async ({
  page,
}) => {
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  const late: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/late/")) late.push(request.url());
  });
  const empty = await App.openFake(page, "stepms=5");
  await empty.pane(1).ask("What is the capital of France?");
  await expect(empty.pane(1).turn).toContainText("Paris");
  expect(late).toEqual([]);

  const app = await openAnswer(page);
  const { turn } = app.pane(1);
  await expect(turn.locator("math")).toHaveCount(3);
  await expect(turn.locator("math").nth(2)).toHaveAttribute("display", "block");
  await expect(turn).toContainText("it costs $5 and $6");
  await expect(turn.locator("code").first()).toHaveText(String.raw`\nonsense{`);
  const keyword = turn.locator("pre span", { hasText: /^def$/ });
  const colourOf = (element: Element) => getComputedStyle(element).color;
  expect(await keyword.evaluate(colourOf)).not.toBe(await turn.locator("pre").evaluate(colourOf));
  await expect(turn.locator("pre code")).toHaveText("def area(r):  # of a disk\n    return 3.14 * r ** 2");
  expect(errors).toEqual([]);
});

test("without a network formulas are shown as they were written, and drawn when it is back", async ({ page }) => {
  await page.route("**/late/**", (route) => route.abort());
  const app = await openAnswer(page);
  const { turn } = app.pane(1);
  await expect(turn).toContainText("They are drawn when this page is online again.");
  await expect(turn.locator("code").first()).toHaveText("a+b");
  await expect(turn.locator("pre code")).toContainText("def area(r)");
  await page.unroute("**/late/**");
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await expect(turn.locator("math")).toHaveCount(3);
  await expect(turn).not.toContainText("They are drawn when");
});
