// Opens the app and asks it, as a person would.

/** Longer than the first answer of any start here. */
const PATIENCE_MS = 120_000;

/**
 * Returns the milliseconds from opening the app to the first word of an answer.
 *
 * @param {import("playwright").Page} page
 * @param {string} url of the app
 */
export async function firstWordMs(page, url) {
  await page.goto("about:blank");
  const beganMs = performance.now();
  await page.goto(url);
  const pane = page.getByRole("region", { name: "Pane 1", exact: true });
  await pane.getByRole("textbox", { name: "Message" }).fill("What is the capital of France?");
  await pane.getByRole("button", { name: "Send", exact: true }).click();
  // The question is in the log before anything is computed.
  const answer = pane.getByRole("log").getByRole("article").last().locator("[data-answer]").filter({ hasText: /\S/ });
  await answer.waitFor({ timeout: PATIENCE_MS });
  return performance.now() - beganMs;
}
