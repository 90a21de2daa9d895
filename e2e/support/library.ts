// A page with nothing on it, for calling the built library as any page would.

import type { JSHandle, Page } from "playwright/test";
import type { EngineConfig } from "../../src/protocol/config.ts";
import type { ChorusEngine } from "../../src/protocol/engine.ts";

/** Serves `body` as a page of the built folder at `folder` (a URL, or a path of the base URL) and opens it. */
export async function openBarePage(page: Page, folder = "./", body = ""): Promise<void> {
  const html = `<!doctype html><title>Bare page</title>${body}`;
  await page.route("**/bare.html", (route) => route.fulfill({ contentType: "text/html", body: html }));
  await page.goto(`${folder}bare.html`);
}

/**
 * An engine on the page, in a handle: `engine.evaluate((engine) => ...)` calls it there. It computes on the CPU unless told
 * otherwise: a software GPU compiles kernels for seconds.
 */
export async function createEngine(
  page: Page,
  config: EngineConfig & { model?: string } = {},
): Promise<JSHandle<ChorusEngine>> {
  return page.evaluateHandle(async (options) => {
    const library = new URL("./lib/chorus.js", location.href).href;
    const { createEngine: create } = (await import(library)) as typeof import("../../src/index.ts");
    return create({ backend: "cpu", model: "models/chorus-chat/", ...options });
  }, config);
}
