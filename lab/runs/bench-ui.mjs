// npm run bench -- ui: the interface alone. Sixteen panes stream 2,000 tokens each from a fake engine; the browser's own
// trace says how long its main thread was busy at a stretch, and how far apart the frames were.

import { launchChromium } from "../../tools/launch-chromium.mjs";
import { serveFakeApp } from "../../tools/fake-app.mjs";
import { mainThreadWork, TRACE_CATEGORIES } from "./main-thread.mjs";

const PANES = 16;
const TOKENS = 2000;
/** Of the fake engine's answer; a word is a token. */
const WORDS_A_PARAGRAPH = 38;
const STEP_MS = 16;
const LONG_TASK_MS = 50;

/** Prints what was measured. */
export async function benchUi(/** @type {string} */ executablePath) {
  const app = await serveFakeApp(4193);
  const browser = await launchChromium(executablePath);
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const query = `panes=${PANES}&ask=Why&paragraphs=${Math.ceil(TOKENS / WORDS_A_PARAGRAPH)}&stepms=${STEP_MS}&context=${2 * TOKENS}&max_tokens=${TOKENS}`;
    await page.goto(`${app.url}?${query}`);
    // Measures the streaming, not the page's start.
    await page.waitForFunction(
      (panes) => document.querySelectorAll('[role="log"][aria-busy="true"]').length === panes,
      PANES,
    );
    await browser.startTracing(page, { categories: TRACE_CATEGORIES });
    const times = await page.evaluate(measureFrames);
    const trace = JSON.parse((await browser.stopTracing()).toString());
    const { tasks, frames: work } = mainThreadWork(trace.traceEvents);
    const long = tasks.filter(({ ms }) => ms > LONG_TASK_MS);
    const longByCpu = tasks.filter(({ cpuMs }) => cpuMs > LONG_TASK_MS);
    const words = await page.evaluate(() =>
      [...document.querySelectorAll("article")].map(({ textContent }) => (textContent ?? "").split(" ").length),
    );
    console.log(`The interface: ${PANES} panes, a token each every ${STEP_MS} ms, ${(sum(times) / 1000).toFixed(0)} s`);
    console.log(`  words shown        ${Math.min(...words)} to ${Math.max(...words)} a pane`);
    // On a machine that has other things to do a task takes longer than its own work.
    console.log(
      `  tasks              ${tasks.length}, the longest ${longest(tasks, "ms")} ms, by CPU time ${longest(tasks, "cpuMs")} ms`,
    );
    console.log(`  over ${LONG_TASK_MS} ms         ${long.length}, by CPU time ${longByCpu.length}`);
    for (const share of [0.5, 0.95, 0.99]) {
      console.log(`  frame time p${share * 100}     ${quantile(times, share).toFixed(1)} ms`);
    }
    // How fast a software compositor draws says little of a screen; what the thread has to do for a frame does.
    console.log("  main thread a frame, CPU time (p50, p95), of 16.7 ms:");
    for (const part of /** @type {const} */ (["script", "style", "layout", "paint", "all"])) {
      const [half, most] = [0.5, 0.95].map((share) =>
        quantile(
          work.map((frame) => frame[part]),
          share,
        ).toFixed(1),
      );
      console.log(`    ${part.padEnd(16)} ${half} ms, ${most} ms`);
    }
    console.log(`  frames a second    ${(1000 / mean(times)).toFixed(1)}`);
  } finally {
    await browser.close();
    await app.close();
  }
}

/** Runs in the page: the times between frames until all answers have ended. */
function measureFrames() {
  return new Promise((/** @type {(times: number[]) => void} */ resolve) => {
    /** @type {number[]} */
    const times = [];
    let lastMs = 0;
    const look = (/** @type {number} */ nowMs) => {
      const isStreaming = document.querySelector('[role="log"][aria-busy="true"]') !== null;
      if (isStreaming && lastMs > 0) times.push(nowMs - lastMs);
      if (!isStreaming && times.length > 0) return resolve(times);
      lastMs = nowMs;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

/** The longest of the tasks, whole milliseconds. */
function longest(/** @type {import("./main-thread.mjs").TaskMs[]} */ tasks, /** @type {"ms" | "cpuMs"} */ key) {
  return Math.max(...tasks.map((task) => task[key])).toFixed(0);
}

const sum = (/** @type {number[]} */ values) => values.reduce((total, value) => total + value, 0);
const mean = (/** @type {number[]} */ values) => sum(values) / values.length;

/** The value that so large a share of them reaches at most. */
function quantile(/** @type {number[]} */ values, /** @type {number} */ share) {
  return [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;
}
