// openai, the AI SDK and LangChain in Firefox, on an engine of the page.

import { expect, it } from "vitest";
import { expectClientsAgree, openClientsSite } from "./support/clients-site.ts";
import { Firefox, hasFirefox } from "./support/firefox.ts";

it.skipIf(!hasFirefox)("runs other people's clients in the page, unmodified", async () => {
  const [firefox, site] = await Promise.all([Firefox.open(), openClientsSite()]);
  try {
    const page = await firefox.newPage(`http://${site.host}/`);
    expectClientsAgree(await page.evaluate(() => globalThis.clients));
    expect(firefox.problems).toEqual([]);
  } finally {
    await firefox.close();
    await site.stop();
  }
});
