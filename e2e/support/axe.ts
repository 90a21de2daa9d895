// Runs axe in a page. Its own runner for Playwright opens a blank page each time, for pages with frames, which takes four
// times as long; the app has none.

import axe from "axe-core";
import type { Page } from "playwright/test";

declare global {
  interface Window {
    axe?: typeof axe;
  }
}

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Returns a line for each element that breaks a rule of WCAG 2.2 AA in the page, or in a part of it. */
export async function axeFindings(page: Page, part = "html"): Promise<string[]> {
  if (await page.evaluate(() => window.axe === undefined)) await page.evaluate(axe.source);
  // Without style sheets, which axe would fetch anew each time, for a rule that none of these tags has.
  const options: axe.RunOptions = { runOnly: TAGS, resultTypes: ["violations"], preload: { assets: ["media"] } };
  const violations = await page.evaluate(async ([part, options]) => (await window.axe!.run(part, options)).violations, [
    part,
    options,
  ] as const);
  return violations.flatMap(({ id, nodes }) =>
    nodes
      // A row of the timeline may be as thin as its cells: its pane can also be reached by its head and by keys.
      .filter(({ html }) => id !== "target-size" || !html.includes(`data-solo=`))
      .map(({ target, html, failureSummary }) => `${id}: ${target.join(" ")} ${html}: ${failureSummary}`),
  );
}
