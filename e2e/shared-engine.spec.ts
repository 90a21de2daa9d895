// Pages that share an engine in a shared worker: by the library, and as tabs of the app.

import { expect, test, type Page } from "playwright/test";
import { ModelServer } from "../tests/fakes/model-server.ts";
import { fixture, modelFiles, WEIGHTS } from "../tests/models/model-folders.ts";
import { App } from "./support/app.ts";
import { openBarePage } from "./support/library.ts";

const join = (page: Page) =>
  page.evaluateHandle(async () => {
    const library = new URL("./lib/chorus.js", location.href).href;
    const { createEngine } = (await import(library)) as typeof import("../src/index.ts");
    return createEngine({ backend: "cpu", worker: "shared", model: "models/chorus-chat/" });
  });

test("pages share one engine, whoever leaves", async ({ page, context }) => {
  await openBarePage(page);
  const other = await context.newPage();
  await openBarePage(other);
  const [a, b] = [await join(page), await join(other)];
  const running = () => b.evaluate(async (engine) => (await engine.stats()).num_requests_running);
  // One long answer after the other, until its page is closed: however slow the machine is, one is under way.
  void a.evaluate(async (engine) => {
    const body = { prompt: "Once", max_tokens: 500, ignore_eos: true };
    const goOn = () => void engine.completions.create(body).then(goOn, () => undefined);
    goOn();
  });
  await expect.poll(running).toBe(1);
  // Work that could take for ever runs in a page's thread: in Chromium a shared worker can start none.
  void b.evaluate((engine) => {
    const structured_outputs = { regex: "(a?b?c?d?e?){400}" };
    void engine.completions.create({ prompt: "Once", structured_outputs }).catch(() => undefined);
  });
  const hello = () =>
    b.evaluate(async (engine) => {
      const messages = [{ role: "user" as const, content: "Hello!" }];
      const { choices } = await engine.chat.completions.create({ messages, temperature: 0, max_tokens: 8 });
      return choices[0]?.message.content;
    });
  const before = await hello();
  expect(before).toMatch(/\w/);
  await expect.poll(running).toBe(1);
  // The threads of a page that is closed end with it; another page's take their place.
  await page.close();
  await expect.poll(running).toBe(0);
  expect(await hello()).toBe(before);
  const text = await b.evaluate(async (engine) => {
    const { choices } = await engine.completions.create({ prompt: "Once upon", temperature: 0 });
    return choices[0]?.text;
  });
  expect(text).toMatch(/\w/);
});

test("pages that share a model of the hub download it once, and later visits not at all", async ({ page, context }) => {
  const server = await ModelServer.start();
  server.serveAsHub("tests/tiny", modelFiles());
  const load = (each: Page) =>
    each.evaluate(async (hubUrl) => {
      const library = new URL("./lib/chorus.js", location.href).href;
      const { createEngine } = (await import(library)) as typeof import("../src/index.ts");
      const engine = await createEngine({ backend: "cpu", worker: "shared", model: "tests/tiny", hubUrl });
      const { choices } = await engine.completions.create({ prompt: [1, 2, 3], max_tokens: 4, ignore_eos: true });
      await engine.dispose();
      return choices.length;
    }, server.url);
  const bytesRequested = () => server.bytesRequested(`tests/tiny/resolve/c0ffee0/${WEIGHTS}`);
  try {
    const other = await context.newPage();
    for (const each of [page, other]) await openBarePage(each);
    expect(await Promise.all([load(page), load(other)])).toEqual([1, 1]);
    const once = bytesRequested();
    const size = fixture(WEIGHTS).length;
    // Its header is asked for separately.
    expect(once).toBeGreaterThanOrEqual(size);
    expect(once).toBeLessThanOrEqual(2 * Math.max(size, 2 ** 16));
    await load(page);
    expect(bytesRequested()).toBe(once);
  } finally {
    await server.close();
  }
});

/** The engines of all tabs, by the locks that tabs hold for them. */
const engines = (page: Page) =>
  page.evaluate(async () => {
    const { held = [] } = await navigator.locks.query();
    const names = held.map(({ name }) => name ?? "").filter((name) => name.startsWith("chorus.engine "));
    return { held: names.length, distinct: new Set(names).size };
  });

const TAKES = /^This tab's engine takes [\d.]+ MB of memory; another tab's takes [\d.]+ MB\.$/;

async function askInFourPanes(app: App): Promise<string> {
  await app.page.getByRole("button", { name: "Send to all" }).click();
  const sheet = app.page.getByRole("dialog", { name: "Send to all" });
  await sheet.getByRole("textbox", { name: "Message" }).fill("Tell me a story about a fox.");
  await sheet.getByRole("textbox", { name: "Message" }).press("Enter");
  for (const pane of [1, 2, 3, 4].map((number) => app.pane(number))) await pane.finished();
  return app.pane(4).answer();
}

test("tabs of the app say what their engines take, and share one once that is chosen", async ({ page, context }) => {
  const query = "temperature=0&max_tokens=16";
  const a = await App.open(page, query);
  await a.modelLoaded();
  await a.addPanes(4);
  const tab = await context.newPage();
  const b = await App.open(tab, query);
  await b.modelLoaded();
  await expect(page.getByText(TAKES)).toBeVisible();
  await expect(tab.getByText(TAKES)).toBeVisible();
  const alone = await askInFourPanes(a);
  await expect(a.figure("Peak")).toHaveText("4");
  await expect(b.figure("Peak")).toHaveText("0");

  await tab.getByRole("button", { name: "Share one" }).click();
  await expect.poll(() => engines(page)).toEqual({ held: 2, distinct: 1 });
  await expect(page.getByText(TAKES)).toBeHidden();
  await expect(tab.getByText(TAKES)).toBeHidden();
  // Each tab sees the steps that the other's answers share.
  expect(await askInFourPanes(a)).toMatch(/\w+ \w+/);
  await expect(b.figure("Peak")).toHaveText("4");
  await b.pane(1).ask("Tell me a story about a fox.");
  await b.pane(1).finished();
  expect(await b.pane(1).answer()).toBe(alone);

  // One tab's choice counts for both; the choice outlives a reload.
  await tab.getByRole("radio", { name: "Sequential" }).check({ force: true });
  await expect(page.getByRole("radio", { name: "Sequential" })).toBeChecked();
  await page.getByRole("radio", { name: "Continuous" }).check({ force: true });
  await expect(tab.getByRole("radio", { name: "Continuous" })).toBeChecked();
  await page.getByRole("button", { name: "Settings for all panes" }).click();
  await page.getByRole("link", { name: "Serving settings" }).click();
  await page.getByRole("textbox", { name: "Most answers at once" }).fill("7");
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(b.figure("Running")).toHaveText("0 of 7");
  await tab.getByRole("button", { name: "Settings for all panes" }).click();
  await expect(tab.getByRole("checkbox", { name: "One engine for all tabs" })).toBeChecked();
  await expect.poll(() => engines(page)).toEqual({ held: 2, distinct: 1 });
  await tab.reload();
  await expect.poll(() => engines(page)).toEqual({ held: 2, distinct: 1 });

  await page.close();
  await expect.poll(() => engines(tab)).toEqual({ held: 1, distinct: 1 });
  await b.pane(1).ask("Tell me a story about a fox.");
  await b.pane(1).finished();
  expect(await b.pane(1).answer()).toMatch(/\w+ \w+/);
});
