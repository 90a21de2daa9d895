// The service worker, on a static host of its own.

import { readFileSync } from "node:fs";
import { expect, test, type Page } from "playwright/test";
import { ModelServer } from "../tests/fakes/model-server.ts";
import { App } from "./support/app.ts";
import { StaticSite } from "./support/static-site.ts";

test.use({ serviceWorkers: "allow" });

let site: StaticSite;
test.beforeEach(async () => {
  site = await StaticSite.open("dist");
});
test.afterEach(() => site.switchOff());

/** Waits until a version is cached completely: the page's, or a newer one that the browser looks for first. */
async function kept(page: Page, options: { update?: boolean } = {}): Promise<void> {
  await page.evaluate(async ({ update }) => {
    const registration = await navigator.serviceWorker.ready;
    if (update) await registration.update();
    const worker = registration.installing ?? registration.waiting ?? registration.active;
    const isReady = () => worker === null || worker.state === "activated";
    while (!isReady()) {
      await new Promise((resolve) => worker?.addEventListener("statechange", resolve, { once: true }));
    }
  }, options);
}

async function chats(page: Page): Promise<void> {
  const pane = new App(page).pane(1);
  await pane.ask("What is the capital of France?");
  await pane.finished();
  expect(await pane.answer()).toMatch(/\w/);
}

const scriptOf = (page: Page) => page.locator("script[type=module]").getAttribute("src");
const models = () => site.sent.filter((path) => path.endsWith(".safetensors")).length;

test("nothing is downloaded for later while the first model is on its way", async ({ page }) => {
  const letGo = await App.holdModel(page);
  // After ten seconds a page no longer waits for its model. A slow machine would take that long for what follows.
  await page.addInitScript(() => {
    const wait = globalThis.setTimeout;
    const waitShortly = (run: TimerHandler, ms = 0, ...given: unknown[]) => (ms < 10_000 ? wait(run, ms, ...given) : 0);
    Object.assign(globalThis, { setTimeout: waitShortly });
  });
  await page.goto(site.url);
  await expect(new App(page).pane(1).region.getByRole("progressbar")).toBeVisible();
  expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0);
  letGo();
  await kept(page);
});

test("after the first visit the app works offline, under any path, and pages of the documents that were visited can be read and followed by keys", async ({
  page,
}) => {
  await page.goto(`${site.url}?temperature=0&max_tokens=12`);
  await kept(page);
  const title = (name: string) => page.getByRole("heading", { level: 2, name, exact: true });
  await page.evaluate(() => (location.hash = "#/docs/tuning"));
  await page.reload(); // the first page that the service worker answers
  await expect(title("Tuning")).toBeFocused();
  await page.getByRole("link", { name: "cpu.md" }).first().press("Enter");
  await expect(title("Tuning")).toBeHidden();
  await page.goBack();
  await expect(title("Tuning")).toBeFocused();
  await page.getByRole("link", { name: "Contents" }).press("Enter");
  await page.getByRole("link", { name: "Models", exact: true }).press("Enter");
  await expect(title("Models")).toBeFocused();
  const isKept = () =>
    page.evaluate(async () => {
      const cache = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
      return cache.flat().some(({ url }) => url.includes("/docs/models-"));
    });
  await expect.poll(isKept).toBe(true);
  await site.switchOff();
  await page.reload();
  await expect(title("Models")).toBeFocused();
  await page.goto(`${site.url}#/docs/tuning?at=batching-mode`);
  await expect(page.getByRole("heading", { name: "Batching mode" })).toBeFocused();
  await page.goto(`${site.url}#/docs/troubleshooting`);
  await expect(title("Not loaded")).toBeVisible();
  await page.goto(`${site.url}#/bench`);
  await page.reload();
  await expect(page.getByRole("button", { name: /^Measure/ })).toBeVisible();
  await page.goto(`${site.url}?temperature=0&max_tokens=12`);
  await chats(page);
});

test("a reload loads a newer version at once, and the model is not downloaded again", async ({ page }) => {
  await page.goto(site.url);
  await kept(page);
  await page.reload();
  site.deploy("second");
  const sentBefore = models();
  await page.reload();
  expect(await scriptOf(page)).toContain("second");
  await kept(page);
  await expect.poll(() => site.sent.filter((path) => path === "assets/index-second.js").length).toBeGreaterThan(0);
  expect(models()).toBe(sentBefore);
  await expect(page.getByText("A new version")).toBeHidden();
});

test("an open page reports a newer version, and reloads only when asked to", async ({ page }) => {
  await page.goto(`${site.url}?temperature=0&max_tokens=12`);
  await kept(page);
  site.deploy("second");
  await kept(page, { update: true });
  const reload = page.getByRole("button", { name: "Reload to update" });
  await expect(reload).toBeVisible();
  expect(await scriptOf(page)).not.toContain("second");
  await chats(page);

  await reload.click();
  await expect.poll(() => scriptOf(page)).toContain("second");
  await expect(reload).toBeHidden();
  await site.switchOff();
  await page.reload();
  expect(await scriptOf(page)).toContain("second");
  await chats(page);
});

test("the app can be installed: its manifest and every icon are there", async ({ page, request }) => {
  await page.goto(site.url);
  const manifestUrl = await page.locator("link[rel=manifest]").evaluate((link: HTMLLinkElement) => link.href);
  const manifest = await (await request.get(manifestUrl)).json();
  expect(new URL(manifest.start_url, manifestUrl).href).toBe(site.url);
  for (const { src, sizes, type } of manifest.icons) {
    const icon = await request.get(new URL(src, manifestUrl).href);
    expect(icon.headers()["content-type"]).toBe(type);
    if (sizes === "any") continue;
    // The width, in a PNG's header.
    expect(`${(await icon.body()).readUInt32BE(16)}x${(await icon.body()).readUInt32BE(20)}`).toBe(sizes);
  }
});

test("pages are isolated from the second load on, and a model of another origin's hub still downloads", async ({
  page,
}) => {
  const names = [
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "model.safetensors",
  ];
  const server = await ModelServer.start();
  const files = names.map((name) => [name, new Uint8Array(readFileSync(`public/models/chorus-chat/${name}`))] as const);
  server.serveAsHub("tests/tiny", new Map(files));
  try {
    await page.goto(site.url);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
    await kept(page);
    // A page of the service worker's without the app's Content-Security-Policy.
    await page.goto(`${site.url}models/chorus-chat/config.json`);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    const answer = await page.evaluate(
      async ({ library, hubUrl }) => {
        const { createEngine } = (await import(library)) as typeof import("../src/index.ts");
        const hub = { hubUrl, revision: "main" };
        const engine = await createEngine({ backend: "cpu", cpuThreads: 2, model: "tests/tiny", ...hub });
        const { choices } = await engine.completions.create({ prompt: "Once", max_tokens: 4, temperature: 0 });
        return [engine.model.adapter, choices[0]?.finish_reason];
      },
      { library: `${site.url}lib/chorus.js`, hubUrl: server.url },
    );
    expect(answer).toEqual(["CPU, 2 threads", "length"]);
  } finally {
    await server.close();
  }
});
