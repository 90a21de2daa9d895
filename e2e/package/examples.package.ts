// The examples as they stand, on the packed library, without settings: the two without a build on a static host, the others in
// Vite's development server.

import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Browser, Page } from "playwright";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import type { ViteDevServer } from "vite";

import { installPacked } from "../../tools/install-packed.mjs";
import { root } from "../../tools/run-command.mjs";
import { serveExamples } from "../../tools/serve-examples.mjs";
import { answerMcp } from "../../tests/fakes/mcp-server.ts";
import { StaticSite } from "../support/static-site.ts";
import { launchChromium, PATIENCE_MS } from "./chromium.ts";

const MODEL = join(root, "public/models/chorus-chat");
/** The last output of each example, with its own figures. */
const FIGURE = /[\d.]+ m?s together, [\d.]+ m?s one after the other \(chorus-chat, .+\)\./;

const MCP_SERVER = "https://mcp.test/";

let folder: string;
let server: ViteDevServer;
let site: StaticSite;
let browser: Browser;

beforeAll(async () => {
  const [packed, opened] = await Promise.all([installPacked("examples"), launchChromium()]);
  folder = packed.folder;
  browser = opened;
  server = await serveExamples(folder);
  site = await StaticSite.open(folder);
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
  await site?.switchOff();
});

/** Opens an example with the embedded model. Its errors fail the test. */
async function open(name: string, base = server.resolvedUrls?.local[0] ?? "", more = ""): Promise<Page> {
  const context = await browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  await context.route(`${MCP_SERVER}**`, async (route) => {
    const asked = route.request();
    const body = asked.postData();
    const answer = await answerMcp(new Request(asked.url(), { method: asked.method(), ...(body && { body }) }));
    const headers = Object.fromEntries(answer.headers);
    await route.fulfill({ status: answer.status, headers, body: await answer.text() });
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  onTestFinished(async () => {
    await context.close();
    expect(problems).toEqual([]);
  });
  await page.goto(`${base}${name}?model=../models/chorus-chat/${more}`);
  return page;
}

/** Waits until the example says its figure. */
const figure = async (page: Page, pattern = FIGURE): Promise<void> => {
  await expect.poll(() => page.getByRole("status").textContent()).toMatch(pattern);
};

it("plain-page: four answers stream into a page without a build", async () => {
  const page = await open("plain-page/index.html", site.url);
  await figure(page, /^Together [\d.]+ s, one after the other [\d.]+ s \(chorus-chat, .+\)\.$/);
  const answers = await page.locator("article p").allTextContents();
  expect(answers).toHaveLength(4);
  expect(answers[1]).toContain("Paris");
  expect(answers.every((answer) => answer.trim() !== "")).toBe(true);
});

it("service-worker: a page beside the one that has the engine is answered while that one is open", async () => {
  const page = await open("service-worker/index.html", site.url);
  await figure(page, /^Together [\d.]+ s, one after the other [\d.]+ s \(chorus-chat, .+\)\.$/);
  const other = await page.context().newPage();
  await other.goto(`${site.url}service-worker/package.json`);
  const ask = (path: string, fields: object | null) =>
    other.evaluate(
      async ([url, body]) => {
        const headers = { "content-type": "application/json" };
        const response = await fetch(url, body === null ? {} : { method: "POST", headers, body });
        return [response.status, await response.text()] as const;
      },
      [path, fields && JSON.stringify(fields)] as const,
    );
  const messages = [{ role: "user", content: "What is the capital of France?" }];
  const answers = await Promise.all([
    ask("v1/models", null),
    ask("v1/chat/completions", { messages, temperature: 0, max_tokens: 16, stream: true }),
    ask("v1/chat/completions", { messages, temperature: 9 }),
  ]);
  expect(answers).toEqual([
    [200, expect.stringContaining("chorus-chat")],
    [200, expect.stringMatching(/Paris.*data: \[DONE\]\n\n$/s)],
    [400, expect.stringContaining("temperature")],
  ]);
  await page.close();
  expect(await ask("v1/models", null)).toEqual([503, expect.stringContaining("not open")]);
});

it.each(["react-chat", "vue-chat"])("%s: two chats of the AI SDK are answered at once", async (name) => {
  const page = await open(`${name}/`);
  await page.getByRole("button", { name: "Ask both" }).click();
  await figure(page, /^\d+ steps with (?:1\.[1-9]\d|2\.00) chats in each, on average \(chorus-chat, .+\)\.$/);
  const answers = ["Temperature 0", "Temperature 1"].map(async (name) => {
    const turns = page.getByRole("region", { name }).getByRole("paragraph");
    await expect.poll(() => turns.count()).toBe(2);
    return (await turns.nth(1).textContent())?.trim();
  });
  const [certain, inventive] = await Promise.all(answers);
  expect(certain).not.toBe("");
  expect(inventive).not.toBe("");
  expect(inventive).not.toBe(certain);
  expect(await page.getByRole("textbox", { name: "Question" }).inputValue()).toBe("");
});

it("autocomplete: typing aborts what was asked before; Tab takes a suggestion", async () => {
  const page = await open("autocomplete/");
  const text = page.getByRole("textbox", { name: "Text" });
  await text.click();
  await text.pressSequentially("Once upon a time, there was a");
  const counts = page.locator("#counts");
  await expect.poll(() => counts.textContent()).toMatch(/suggestions in \d+ ms; 29 requests/);
  // Two keys in one task: no answer can come between them.
  await text.evaluate((area) => {
    for (let key = 0; key < 2; key++) area.dispatchEvent(new Event("input"));
  });
  await expect.poll(() => counts.textContent()).toMatch(/suggestions in \d+ ms; 31 requests, [1-9]/);
  const suggestion = await page.locator("#suggestions button").first().textContent();
  await text.press("Tab");
  expect(await text.inputValue()).toBe(`Once upon a time, there was a${suggestion}`);
  await expect.poll(() => counts.textContent()).toMatch(/suggestions in \d+ ms; 32 requests/);
  // The keyboard leaves a suggestion, forward and back.
  await text.press("Escape");
  expect(await page.locator("#suggestions button").count()).toBe(0);
  await text.press("Tab");
  expect(await text.evaluate((area) => document.activeElement === area)).toBe(false);
  await page.getByRole("button", { name: "Compare" }).click();
  await figure(page);
});

it("summaries: every row follows the schema", async () => {
  const page = await open("summaries/");
  await figure(page);
  const rows = page.locator("tbody tr");
  expect(await rows.count()).toBe(8);
  for (const row of await rows.all()) {
    const [, summary, mood, stars] = await row.getByRole("cell").allTextContents();
    expect(summary).toMatch(/^.{0,40}$/);
    expect(mood).toMatch(/^(?:glad|neutral|angry)$/);
    expect(stars).toMatch(/^★{1,5}$/);
  }
});

it("agents: four of them speak in each of three rounds", async () => {
  const page = await open("agents/");
  await figure(page);
  const lines = await page.getByRole("listitem").allTextContents();
  const speakers = ["Ann", "Ben", "Cleo", "Dan"];
  expect(lines.map((line) => line.split(":")[0])).toEqual(
    [1, 2, 3].flatMap((round) => [`Round ${round}`, ...speakers]),
  );
  const said = lines.filter((line) => line.includes(":")).map((line) => line.split(": ")[1]);
  expect(said.every((sentence) => sentence?.trim())).toBe(true);
  // Four voices, not one four times.
  expect(new Set(said).size).toBeGreaterThan(6);
  const [, hits, queries] =
    /(\d+) of the (\d+) prompt tokens/.exec((await page.getByRole("status").textContent()) ?? "") ?? [];
  expect(Number(hits)).toBeGreaterThan(Number(queries) / 4);
});

it("samplers: eight of them write on, each in its own way", async () => {
  const page = await open("samplers/");
  await figure(page);
  const texts = await page.locator("article p").allTextContents();
  expect(new Set(texts).size).toBe(8);
  expect(texts.every((text) => text.length > 20)).toBe(true);
});

it("tools: a question makes a call, and its result is shown", async () => {
  const page = await open("tools/");
  await page.getByRole("button", { name: "Ask" }).click();
  const [status] = await Promise.all([
    page.getByText(/^\d calls?, each valid/).textContent(),
    page
      .getByText(/^(calculate\(\{"a": -?\d+, "operation": "[-+*]", "b": -?\d+\}\) → -?\d+|clock\(\{\}\) → .*M)$/)
      .first()
      .waitFor(),
  ]);
  expect(status).toMatch(/^[1-4] /);
});

it("tools: a server of the Model Context Protocol has tools, too", async () => {
  const page = await open("tools/", undefined, `&mcp=${MCP_SERVER}`);
  await page.getByRole("button", { name: "Ask" }).click();
  await page
    .getByText(/^weather\(\{"city": "(Paris|Oslo)"\}\) → Rain in (Paris|Oslo)\.$/)
    .first()
    .waitFor();
});

it("node: answers in the process, and over HTTP to a client", async () => {
  const cwd = join(folder, "node");
  const run = promisify(execFile);
  const inProcess = await run(process.execPath, ["in-process.js", MODEL], { cwd });
  expect(inProcess.stdout).toMatch(
    /Paris[\s\S]*Together [\d.]+ s, one after the other [\d.]+ s \(model, CPU, \d threads?\)\.\n$/,
  );

  const words = [
    "node_modules/chorus-llm/dist/lib/serve-command.js",
    "--model",
    MODEL,
    "--port",
    "0",
    "--backend",
    "cpu",
  ];
  const serving = spawn(process.execPath, words, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void serving.kill());
  let printed = "";
  serving.stdout.on("data", (bytes) => (printed += String(bytes)));
  await expect.poll(() => printed).toMatch(/Serving at \S+/);
  const client = await run(process.execPath, ["client.js", /Serving at (\S+)/.exec(printed)?.[1] ?? ""], { cwd });
  expect(client.stdout).toMatch(/Paris[\s\S]*Together [\d.]+ s, one after the other [\d.]+ s \(chorus-chat\)\.\n$/);
});
