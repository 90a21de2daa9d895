// npm run bench -- ui: the interface alone. Sixteen panes stream 2,000 tokens each from a fake engine; the browser's own
// trace says how long its main thread was busy at a stretch, and how far apart the frames were.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { chromium } from "playwright";
import { build, preview } from "vite";

import { chromiumFlags } from "./chromium-flags.mjs";
import { root } from "./run-command.mjs";

const PANES = 16;
const TOKENS = 2000;
/** Of the fake engine's answer; a word is a token. */
const WORDS_A_PARAGRAPH = 38;
const STEP_MS = 16;
const LONG_TASK_MS = 50;
const MEASURED_MS = 20_000;
const PAGE = "src/testing/fake-app.html";

/** Prints what was measured. */
export async function benchUi(/** @type {string} */ executablePath) {
  const outDir = mkdtempSync(join(tmpdir(), "chorus-ui-"));
  const config = { root, configFile: join(root, "vite.config.ts"), logLevel: /** @type {const} */ ("warn") };
  await build({ ...config, build: { outDir, emptyOutDir: true, rolldownOptions: { input: join(root, PAGE) } } });
  const server = await preview({ ...config, build: { outDir }, preview: { host: "127.0.0.1", port: 4193 } });
  const browser = await chromium.launch({ executablePath, args: chromiumFlags() });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const query = `panes=${PANES}&ask=Why&paragraphs=${Math.ceil(TOKENS / WORDS_A_PARAGRAPH)}&stepms=${STEP_MS}&context=${2 * TOKENS}&max_tokens=${TOKENS}`;
    await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline"] });
    await page.goto(`${server.resolvedUrls?.local[0]}${PAGE}?${query}`);
    const frames = await page.evaluate(measureFrames, MEASURED_MS);
    const trace = JSON.parse((await browser.stopTracing()).toString());
    const tasks = mainThreadTasks(trace.traceEvents);
    const long = tasks.filter(({ ms }) => ms > LONG_TASK_MS);
    const longByCpu = tasks.filter(({ cpuMs }) => cpuMs > LONG_TASK_MS);
    const words = await page.evaluate(() =>
      [...document.querySelectorAll("article")].map(({ textContent }) => (textContent ?? "").split(" ").length),
    );
    console.log(`The interface: ${PANES} panes, a token each every ${STEP_MS} ms, ${MEASURED_MS / 1000} s`);
    console.log(`  words shown        ${Math.min(...words)} to ${Math.max(...words)} a pane`);
    // On a machine that has other things to do a task takes longer than its own work.
    console.log(
      `  tasks              ${tasks.length}, the longest ${longest(tasks, "ms")} ms, by CPU time ${longest(tasks, "cpuMs")} ms`,
    );
    console.log(`  over ${LONG_TASK_MS} ms         ${long.length}, by CPU time ${longByCpu.length}`);
    for (const share of [0.5, 0.95, 0.99]) {
      const ms = frames[Math.floor(share * (frames.length - 1))] ?? Number.NaN;
      console.log(`  frame time p${share * 100}     ${ms.toFixed(1)} ms`);
    }
    console.log(`  frames a second    ${((frames.length * 1000) / MEASURED_MS).toFixed(1)}`);
  } finally {
    await browser.close();
    await server.close();
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** Runs in the page: the times between frames, in order of length. */
function measureFrames(/** @type {number} */ forMs) {
  return new Promise((/** @type {(times: number[]) => void} */ resolve) => {
    /** @type {number[]} */
    const times = [];
    const startMs = performance.now();
    let lastMs = startMs;
    const look = (/** @type {number} */ nowMs) => {
      times.push(nowMs - lastMs);
      lastMs = nowMs;
      if (nowMs - startMs < forMs) requestAnimationFrame(look);
      else resolve(times.slice(1).sort((a, b) => a - b));
    };
    requestAnimationFrame(look);
  });
}

/**
 * Of each task of the page's main thread how long it took, and how much CPU time of that. Loading the page itself is
 * among them.
 *
 * @returns {{ ms: number, cpuMs: number }[]}
 */
function mainThreadTasks(/** @type {any[]} */ events) {
  const names = events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  const isMain = (/** @type {any} */ event) => names.some(({ pid, tid }) => pid === event.pid && tid === event.tid);
  const tasks = events.filter((event) => event.ph === "X" && event.name.endsWith("RunTask") && isMain(event));
  return tasks.map(({ dur = 0, tdur = dur }) => ({ ms: dur / 1000, cpuMs: tdur / 1000 }));
}

function longest(/** @type {{ ms: number, cpuMs: number }[]} */ tasks, /** @type {"ms" | "cpuMs"} */ key) {
  return Math.max(...tasks.map((task) => task[key])).toFixed(0);
}
