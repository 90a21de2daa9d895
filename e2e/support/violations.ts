// What the built page's Content-Security-Policy forbids.

import type { Page } from "playwright/test";

/** Counts what the policy forbids from now on, in every page that is opened. */
export async function recordViolations(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const violations: string[] = [];
    addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
      violations.push(`${effectiveDirective} ${blockedURI}`),
    );
    Object.assign(globalThis, { violations });
  });
  return () => page.evaluate(() => (globalThis as unknown as { violations: string[] }).violations);
}
