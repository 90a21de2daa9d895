// How far things on a page moved by themselves.

import type { Page } from "playwright/test";

interface Shift {
  readonly value: number;
  /** What moved. */
  readonly parts: string;
}

declare global {
  interface Window {
    shifts: Shift[];
  }
}

/**
 * Counts the layout shifts of the page that is opened next, and of those after it. A growing number moves in its place, and a
 * bar's with its end: the longer, the slower the machine. The browser excuses what moves within half a second of a click, which
 * a slow machine exceeds: here all of it counts.
 */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.shifts = [];
    const isNumber = ({ node }: { node: Node | null }) => /^[\d.,]+( s| ms|%)?$/.test(node?.textContent ?? "");
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & Shift & { sources: { node: Node | null }[] })[]) {
        if (entry.sources.every(isNumber)) continue;
        const parts = entry.sources.map(({ node }) => (node instanceof Element ? node.outerHTML : node?.textContent));
        window.shifts.push({ value: entry.value, parts: parts.map((part) => part?.slice(0, 200)).join(" | ") });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** Returns all layout shifts of the page so far, added up. */
export function shifts(page: Page): Promise<number> {
  return page.evaluate(() => window.shifts.reduce((sum, { value }) => sum + value, 0));
}
