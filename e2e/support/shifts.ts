// How far things on a page moved by themselves.

import type { Page } from "playwright/test";
import { inPage, type AnyPage } from "./in-page.ts";

interface Shift {
  readonly value: number;
  /** What moved. */
  readonly parts: string;
}

declare global {
  interface Window {
    shifts: Shift[];
    /** Adds to `shifts` what the browser would tell of later. */
    noteShifts(): void;
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
    const note = (entries: PerformanceEntryList) => {
      for (const entry of entries as (PerformanceEntry & Shift & { sources: { node: Node | null }[] })[]) {
        if (entry.sources.every(isNumber)) continue;
        const parts = entry.sources.map(({ node }) => (node instanceof Element ? node.outerHTML : node?.textContent));
        window.shifts.push({ value: entry.value, parts: parts.map((part) => part?.slice(0, 200)).join(" | ") });
      }
    };
    const observer = new PerformanceObserver((list) => note(list.getEntries()));
    observer.observe({ type: "layout-shift", buffered: true });
    window.noteShifts = () => note(observer.takeRecords());
  });
}

/** Returns all layout shifts of the page so far, added up, those of the next frame included: it shows what has changed. */
export function shifts(page: AnyPage): Promise<number> {
  return inPage(page, async () => {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    window.noteShifts();
    return window.shifts.reduce((sum, { value }) => sum + value, 0);
  });
}
