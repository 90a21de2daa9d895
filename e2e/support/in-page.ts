/** A page of Playwright's, or of puppeteer's. What both take is text. */
export interface AnyPage {
  evaluate(text: string): Promise<unknown>;
}

/** Runs a function in the page. It can use nothing but what it is given, which must be plain data. */
export async function inPage<Found, Given = undefined>(
  page: AnyPage,
  run: (given: Given) => Found,
  given?: Given,
): Promise<Awaited<Found>> {
  return (await page.evaluate(`(${run.toString()})(${JSON.stringify(given)})`)) as Awaited<Found>;
}
