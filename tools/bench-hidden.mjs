// npm run bench -- hidden: tokens per second in a tab that is seen and in one behind another, in turns, in a real window. It
// needs a display: `xvfb-run -a npm run bench -- hidden` where there is none.

import { chromium } from "playwright";

import { chromiumFlags } from "./chromium-flags.mjs";
import { buildAndServe } from "./serve-app.mjs";

const ROUNDS = 3;
const SEQUENCES = 4;
const MEASURED_MS = 6000;
/** Playwright's own, which keep a browser from saving power in tabs that nobody sees. */
const THROTTLING_OFF = [
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-renderer-backgrounding",
];

/**
 * Prints what was measured.
 *
 * @param {string} executablePath
 * @param {{ backend?: string }} options
 */
export async function benchHidden(executablePath, { backend = "webgpu" }) {
  const server = await buildAndServe(4174);
  // Pages of its own context are tabs of one window; those of others are windows.
  const context = await chromium.launchPersistentContext("", {
    executablePath,
    args: chromiumFlags(),
    headless: false,
    ignoreDefaultArgs: THROTTLING_OFF,
  });
  try {
    const page = await context.newPage();
    const other = await context.newPage();
    await page.goto(`${server.url}models/chorus-chat/config.json`);
    await page.bringToFront();
    // Playwright has each page believe that it is in front.
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setFocusEmulationEnabled", { enabled: false });
    await page.evaluate(start, { backend, sequences: SEQUENCES, url: server.url });
    /** @type {Record<string, number[]>} */
    const rates = { visible: [], hidden: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const front of [page, other]) {
        await front.bringToFront();
        await page.waitForTimeout(500);
        const { state, tokensPerSecond } = await page.evaluate(measure, MEASURED_MS);
        (rates[state] ??= []).push(tokensPerSecond);
      }
    }
    if (rates.hidden?.length !== ROUNDS) throw new Error("The tab behind the other one was not hidden.");
    console.log(`${SEQUENCES} sequences at once on ${backend}, tokens per second, in turns:`);
    for (const [state, measured] of Object.entries(rates)) {
      console.log(`  ${state.padEnd(8)} ${measured.map((rate) => rate.toFixed(1)).join(", ")}`);
    }
  } finally {
    await context.close();
    await server.close();
  }
}

/** Runs in the page: keeps some answers coming. */
async function start(/** @type {{ backend: string, sequences: number, url: string }} */ { backend, sequences, url }) {
  const { createEngine } = await import(`${url}lib/chorus.js`);
  const engine = await createEngine({ model: `${url}models/chorus-chat/`, backend });
  const counted = /** @type {{ tokens?: number }} */ (globalThis);
  counted.tokens = 0;
  const go = async (/** @type {number} */ seed) => {
    for (;;) {
      const body = { prompt: "Once upon a time", seed, max_tokens: 200, ignore_eos: true, stream: true };
      for await (const { choices } of await engine.completions.create(body)) {
        counted.tokens = (counted.tokens ?? 0) + choices.length;
      }
    }
  };
  for (let i = 0; i < sequences; i++) void go(i);
}

/** Runs in the page. */
async function measure(/** @type {number} */ ms) {
  const counted = /** @type {{ tokens?: number }} */ (globalThis);
  const [startMs, before] = [performance.now(), counted.tokens ?? 0];
  await new Promise((resolve) => setTimeout(resolve, ms));
  const seconds = (performance.now() - startMs) / 1000;
  return { state: document.visibilityState, tokensPerSecond: ((counted.tokens ?? 0) - before) / seconds };
}
