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

/**
 * Waits until a version is cached completely and active: the page's, or a newer one that the browser looks for first.
 * A new one is activated once the old one rests. If a request reaches the old one in that moment, Chromium tries again only
 * when the old one is stopped, after half a minute without a request. Under a debugger it is never stopped, so this stops it.
 */
async function kept(page: Page, options: { update?: boolean } = {}): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("ServiceWorker.enable");
  const state = () =>
    page.evaluate(async () => {
      const { installing, waiting, active } = await navigator.serviceWorker.ready;
      return (installing ?? waiting ?? active)?.state;
    });
  if (options.update) await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
  await expect
    .poll(async () => {
      const now = await state();
      if (now === "installed") await cdp.send("ServiceWorker.stopAllWorkers");
      return now;
    })
    .toBe("activated");
  await cdp.detach();
}

async function chats(page: Page): Promise<void> {
  const pane = new App(page).pane(1);
  await pane.ask("What is the capital of France?");
  await pane.finished();
  expect(await pane.answer()).toMatch(/\w/);
}

const scriptOf = (page: Page) => page.locator("script[type=module]").getAttribute("src");
const models = () => site.sent.filter((path) => path.endsWith(".safetensors")).length;

test("after the first visit, which downloads nothing else before the model, the app can be installed and works offline, isolated, under any path", async ({
  page,
  request,
}) => {
  await test.step("nothing is downloaded for later while the first model is on its way", async () => {
    const letGo = await App.holdModel(page);
    // After ten seconds a page no longer waits for its model. A slow machine would take that long for what follows.
    const script = await page.addInitScript(() => {
      const wait = globalThis.setTimeout;
      const waitShortly = (run: TimerHandler, ms = 0, ...given: unknown[]) =>
        ms < 10_000 ? wait(run, ms, ...given) : 0;
      Object.assign(globalThis, { setTimeout: waitShortly });
    });
    await page.goto(`${site.url}?temperature=0&max_tokens=12`);
    // Every page that is opened from here on has its own timers.
    await script.dispose();
    await expect(new App(page).pane(1).region.getByRole("progressbar")).toBeVisible();
    expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
    letGo();
    await kept(page);
  });

  await test.step("it can be installed: its manifest and every icon are there", async () => {
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

  await test.step("pages are isolated from the second load on, and a model of another origin's hub still downloads", async () => {
    const names = "config.json generation_config.json tokenizer.json tokenizer_config.json model.safetensors".split(
      " ",
    );
    const files = names.map(
      (name) => [name, new Uint8Array(readFileSync(`public/models/chorus-chat/${name}`))] as const,
    );
    const server = await ModelServer.start();
    server.serveAsHub("tests/tiny", new Map(files));
    try {
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

  const title = (name: string) => page.getByRole("heading", { level: 2, name, exact: true });
  await test.step("pages of the documents that were visited can be read and followed by keys", async () => {
    await page.goto(`${site.url}#/docs/tuning`);
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
  });

  await test.step("without a network", async () => {
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
});

test("an open page reports a newer version, and reloads only when asked to; a reload loads it at once, without the model", async ({
  page,
}) => {
  const reload = page.getByRole("button", { name: "Reload to update" });
  await page.goto(`${site.url}?temperature=0&max_tokens=12`);
  await kept(page);

  await test.step("an open page", async () => {
    site.deploy("second");
    await kept(page, { update: true });
    await expect(reload).toBeVisible();
    expect(await scriptOf(page)).not.toContain("second");
    await chats(page);
    await reload.click();
    await expect.poll(() => scriptOf(page)).toContain("second");
    await expect(reload).toBeHidden();
  });

  await test.step("a reload", async () => {
    await kept(page);
    site.deploy("third");
    const sentBefore = models();
    await page.reload();
    expect(await scriptOf(page)).toContain("third");
    await kept(page);
    await expect
      .poll(() => site.sent.filter((path) => /^assets\/index-.*-third\.js$/.test(path)).length)
      .toBeGreaterThan(0);
    expect(models()).toBe(sentBefore);
    await expect(reload).toBeHidden();
  });

  await test.step("it works offline", async () => {
    await kept(page, { update: true });
    await site.switchOff();
    await page.reload();
    expect(await scriptOf(page)).toContain("third");
    await chats(page);
  });
});
