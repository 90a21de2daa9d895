// Opens the app and asks a question, as a person would.

import type { Page } from "playwright";

/** Longer than the first answer of any start here. */
const PATIENCE_MS = 120_000;

/**
 * Returns the milliseconds from opening the app to the first word of an answer. The page itself notices the word: Playwright
 * looks only twice a second after a while. @param url of the app
 */
export async function firstWordMs(page: Page, url: string): Promise<number> {
  await page.goto("about:blank");
  const beganMs = performance.now();
  await page.goto(url);
  const pane = page.getByRole("region", { name: "Pane 1", exact: true });
  await pane.getByRole("textbox", { name: "Message" }).fill("What is the capital of France?");
  await pane.getByRole("button", { name: "Send", exact: true }).click();
  // The question is in the log before anything is computed.
  const log = await pane.getByRole("log").elementHandle();
  await page.waitForFunction(
    (element) => /\S/.test(element?.querySelector("article:last-of-type [data-answer]")?.textContent ?? ""),
    log,
    { polling: "raf", timeout: PATIENCE_MS },
  );
  return performance.now() - beganMs;
}
