// Formulas and code as models write them. What draws them loads when the first answer has some.

import { expect, test, type ConsoleMessage } from "playwright/test";
import { App } from "./support/app.ts";
import { overwrite, recordsOf } from "./support/saved-record.ts";

const ANSWER = String.raw`Where \( a+b \) is $c_1$, it costs $5 and $6:

\[
\frac{1}{2} = \int_0^1 x\,dx
\]

\[ \nonsense{ \]

${"```python\ndef area(r):  # of a disk\n    return 3.14 * r ** 2\n```"}`;

test("formulas are drawn, and read as MathML; code has colours; a page without them loads neither", async ({
  page,
}) => {
  const errors: string[] = [];
  // All but those of requests that this test ends, which may be said late.
  const isError = (message: ConsoleMessage) =>
    message.type() === "error" && !message.text().includes("net::ERR_FAILED");
  page.on("console", (message) => isError(message) && errors.push(message.text()));
  const late: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/late/")) late.push(request.url());
  });
  const app = await App.openFake(page, "stepms=5");
  const { turn } = app.pane(1);
  await app.pane(1).ask("What is the capital of France?");
  await expect(turn).toContainText("Paris");
  expect(late).toEqual([]);
  expect(errors).toEqual([]);

  await test.step("without a network they are shown as they were written", async () => {
    await page.route("**/late/**", (route) => route.abort());
    await overwrite(page, recordsOf([{ id: 0, question: "What is a half?", answer: ANSWER, end: "stop" }]));
    await App.openFake(page, "keep&stepms=5");
    await expect(turn).toContainText("They are drawn when this page is online again.");
    await expect(turn.locator("code").first()).toHaveText("a+b");
    await expect(turn.locator("pre code")).toContainText("def area(r)");
  });

  await test.step("they are drawn when it is back", async () => {
    await page.unroute("**/late/**");
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await expect(turn.locator("math")).toHaveCount(3);
    await expect(turn).not.toContainText("They are drawn when");
    await expect(turn.locator("math").nth(2)).toHaveAttribute("display", "block");
    await expect(turn).toContainText("it costs $5 and $6");
    await expect(turn.locator("code").first()).toHaveText(String.raw`\nonsense{`);
    const keyword = turn.locator("pre span", { hasText: /^def$/ });
    const colourOf = (element: Element) => getComputedStyle(element).color;
    expect(await keyword.evaluate(colourOf)).not.toBe(await turn.locator("pre").evaluate(colourOf));
    await expect(turn.locator("pre code")).toHaveText("def area(r):  # of a disk\n    return 3.14 * r ** 2");
    expect(errors).toEqual([]);
  });

  await test.step("so they are at once in a page that has its network", async () => {
    await App.openFake(page, "keep&stepms=5");
    await expect(turn.locator("math")).toHaveCount(3);
    await expect(turn.locator("pre span", { hasText: /^def$/ })).toBeVisible();
  });
});
