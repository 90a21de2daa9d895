// Runs axe in a page. Its own runner for Playwright opens a blank page each time, for pages with frames, which takes four
// times as long; the app has none.

import axe from "axe-core";
import type { Page } from "playwright/test";
import { inPage, type AnyPage } from "./in-page.ts";

declare global {
  interface Window {
    axe?: typeof axe;
  }
}

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Returns a line for each element that breaks a rule of WCAG 2.2 AA in the page, or in a part of it. */
export async function axeFindings(page: AnyPage, part = "html"): Promise<string[]> {
  if (await inPage(page, () => window.axe === undefined)) await page.evaluate(`${axe.source}; 0`);
  // Without style sheets, which axe would fetch anew each time, for a rule that none of these tags has.
  const options: axe.RunOptions = { runOnly: TAGS, resultTypes: ["violations"], preload: { assets: ["media"] } };
  const run = async (given: { part: string; options: axe.RunOptions }) =>
    (await window.axe!.run(given.part, given.options)).violations;
  const violations = await inPage(page, run, { part, options });
  return violations.flatMap(({ id, nodes }) =>
    nodes
      // A row of the timeline may be as thin as its cells: its pane can also be reached by its head and by keys.
      .filter(({ html }) => id !== "target-size" || !html.includes(`data-highlight=`))
      .map(({ target, html, failureSummary }) => `${id}: ${target.join(" ")} ${html}: ${failureSummary}`),
  );
}

// Layout and colours are independent, so two looks cover both; axe takes seconds for each.
const LOOKS = [
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 390, height: 844, colorScheme: "dark" },
] as const;

/** Returns axe's findings in the page, or in a part of it, light on a desktop and dark on a phone. The desktop's size stays. */
export async function axeFindingsInLooks(page: Page, part = "html"): Promise<string[]> {
  const found: string[] = [];
  for (const { colorScheme, ...size } of LOOKS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const finding of await axeFindings(page, part)) found.push(`${size.width} ${colorScheme} ${finding}`);
  }
  await page.setViewportSize({ width: LOOKS[0].width, height: LOOKS[0].height });
  return found;
}
