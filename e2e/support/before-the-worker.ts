import type { Page, Route } from "playwright/test";

export const NO_WEBGPU = "Reflect.deleteProperty(WorkerNavigator.prototype, 'gpu');";
export const NO_ADAPTER = "GPU.prototype.requestAdapter = async () => null;";

/** Answers requests to `url` as `answer` does. One that is open when the test ends needs no answer. */
export async function answerRequests(page: Page, url: string, answer: (route: Route) => Promise<void>): Promise<void> {
  await page.route(url, (route) =>
    answer(route).catch((error: unknown) => {
      if (!/disposed|closed/.test(String(error))) throw error;
    }),
  );
}

/** Runs `code` before the engine's worker does. */
export async function beforeTheWorker(page: Page, code: string): Promise<void> {
  await answerRequests(page, "**/engine.worker*.js", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${code}\n${await response.text()}` });
  });
}
