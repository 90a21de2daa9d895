import type { Page } from "playwright/test";

export const NO_ADAPTER = "GPU.prototype.requestAdapter = async () => null;";

/** Runs `code` before the engine's worker does. */
export async function beforeTheWorker(page: Page, code: string): Promise<void> {
  await page.route("**/engine.worker*.js", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${code}\n${await response.text()}` });
  });
}
