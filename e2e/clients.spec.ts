// openai, the AI SDK and LangChain in Chromium, on an engine of the page.

import { test } from "playwright/test";
import { expectClientsAgree, openClientsSite } from "./support/clients-site.ts";

test("other people's clients run in the page, unmodified", async ({ page }) => {
  const site = await openClientsSite();
  await page.goto(`http://${site.host}/`);
  expectClientsAgree(await page.evaluate(() => globalThis.clients));
  await site.stop();
});
