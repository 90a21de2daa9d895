// npm run bench -- hidden --minutes N: decoding while the tab is hidden, in a real window, under Xvfb where there is no display.
// Chromium throttles a hidden page's timers to one a second, and from five minutes on to one a minute.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";

import puppeteer from "puppeteer-core";

import { adapter, chromiumFlags } from "../../tools/browsers/chromium-flags.mjs";
import { buildAndServe } from "../../tools/serve-app.mjs";
import { within } from "../../tools/time-limits.mjs";

const PORT = 4390;
const REPORT = "docs/benchmarks/hidden.md";
/** Each backend decodes for this long in each row. Between rows the engines rest, so that the machine does, too. */
const ROW_MS = 6000;
const MINUTE_MS = 60_000;
/** Of puppeteer's own: they keep hidden tabs from being throttled. */
const AGAINST_THROTTLING = [
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-renderer-backgrounding",
];
const BACKENDS = /** @type {const} */ (["cpu", "webgpu"]);

/** @typedef {{ tab: string, visibility: string, ticksPerS: number, tokensPerS: Record<string, number> }} Row */
/** @typedef {typeof globalThis & { ticks: number, sinceMs: number }} Ticking */
/** @typedef {Record<string, import("../../src/index.ts").ChorusEngine>} Engines */

/**
 * Prints what was measured, and writes it down.
 *
 * @param {string} executablePath
 * @param {{ minutes?: string }} options
 */
export async function benchHidden(executablePath, { minutes = "6" }) {
  const screen = process.env.DISPLAY ? null : await startScreen();
  const server = await buildAndServe(PORT);
  const browser = await puppeteer.launch({
    executablePath,
    headless: false,
    args: chromiumFlags(),
    ignoreDefaultArgs: AGAINST_THROTTLING,
    env: { ...process.env, ...(screen && { DISPLAY: screen.name }) },
  });
  try {
    const page = await browser.newPage();
    // Any file of the same origin that is no page of ours: the figures are the library's.
    await page.goto(`${server.url}models/chorus-chat/config.json`);
    const engines = await page.evaluateHandle(openEngines, [...BACKENDS]);
    await page.evaluate(startTicking);
    /** @type {Row[]} */
    const rows = [];
    const measure = async (/** @type {string} */ tab) => {
      rows.push({ tab, ...(await measureRow(page, engines)) });
      console.log(JSON.stringify(rows.at(-1)));
    };
    await measure("in front");
    await measure("in front");
    const other = await browser.newPage();
    await other.bringToFront();
    const hiddenMs = performance.now();
    for (let minute = 0; minute <= Number(minutes); minute++) {
      await sleep(hiddenMs + Math.max(2000, minute * MINUTE_MS) - performance.now());
      await measure(`behind another tab, after ${minute === 0 ? "2 s" : `${minute} min`}`);
    }
    await page.bringToFront();
    await measure("in front again");
    await measure("in front again");
    mkdirSync("docs/benchmarks", { recursive: true });
    writeFileSync(REPORT, markdown(rows, await browser.version()));
    console.log(`Written to ${REPORT}`);
  } finally {
    await browser.close();
    await server.close();
    screen?.close();
  }
}

/**
 * Starts a virtual display.
 *
 * @returns {Promise<{ name: string, close: () => void }>}
 */
async function startScreen() {
  const xvfb = spawn("Xvfb", ["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const told = within(once(xvfb.stdout, "data"), 30_000, "Xvfb opened no display");
  const [number] = await Promise.race([
    told,
    once(xvfb, "error").then(([error]) => Promise.reject(new Error(`Xvfb can't be started: ${error.message}`))),
  ]);
  return { name: `:${String(number).trim()}`, close: () => xvfb.kill() };
}

/** Runs in the page. */
async function openEngines(/** @type {("cpu" | "webgpu")[]} */ backends) {
  const library = new URL("/lib/chorus.js", location.href).href;
  const { createEngine } = /** @type {typeof import("../../src/index.ts")} */ (await import(library));
  /** @type {Engines} */
  const engines = {};
  for (const backend of backends)
    engines[backend] = await createEngine({ model: "/models/chorus-chat/", backend, cpuThreads: 1 });
  return engines;
}

/** Runs in the page: counts the ticks of a timer that wants ten a second. */
function startTicking() {
  const counted = /** @type {Ticking} */ (globalThis);
  counted.ticks = 0;
  counted.sinceMs = performance.now();
  setInterval(() => void counted.ticks++, 100);
}

/** Runs in the page. Returns the ticks per second since it was called last. */
function ticksPerSecond() {
  const counted = /** @type {Ticking} */ (globalThis);
  const nowMs = performance.now();
  const perS = (1000 * counted.ticks) / (nowMs - counted.sinceMs);
  counted.ticks = 0;
  counted.sinceMs = nowMs;
  return perS;
}

/** What one row says. No timer of the page is waited for: they are what is throttled. */
async function measureRow(
  /** @type {import("puppeteer-core").Page} */ page,
  /** @type {import("puppeteer-core").JSHandle<Engines>} */ engines,
) {
  /** @type {Record<string, number>} */
  const tokensPerS = {};
  for (const backend of BACKENDS) {
    tokensPerS[backend] = await engines.evaluate(
      async (all, name, ms) => {
        const engine = /** @type {import("../../src/index.ts").ChorusEngine} */ (all[name]);
        const endMs = performance.now() + ms;
        let fastest = 0;
        while (performance.now() < endMs) {
          const beganMs = performance.now();
          const { usage } = await engine.completions.create({ prompt: "Once", max_tokens: 50, ignore_eos: true });
          fastest = Math.max(fastest, (1000 * (usage?.completion_tokens ?? 0)) / (performance.now() - beganMs));
        }
        return fastest;
      },
      backend,
      ROW_MS,
    );
  }
  const visibility = await page.evaluate(() => document.visibilityState);
  return { visibility, ticksPerS: await page.evaluate(ticksPerSecond), tokensPerS };
}

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

function markdown(/** @type {Row[]} */ rows, /** @type {string} */ version) {
  const cells = rows.map(({ tab, visibility, ticksPerS, tokensPerS }) => [
    tab,
    visibility,
    ...BACKENDS.map((backend) => tokensPerS[backend]?.toFixed(0) ?? ""),
    ticksPerS.toFixed(ticksPerS < 1 ? 2 : 1),
  ]);
  const adapterName = adapter === "software" ? "SwiftShader" : "the machine's GPU";
  const head = ["tab", "`visibilityState`", "tokens/s, CPU", `tokens/s, ${adapterName}`, "ticks/s"];
  const widths = head.map((name, column) => Math.max(name.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (/** @type {string[]} */ row) =>
    `| ${row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column < 2 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return `# A hidden tab

\`npm run bench -- hidden --minutes N\` writes this. Decoding goes on at full speed when the tab is hidden: the engine's worker
has no timer in its loop. ${version} (headed, on a virtual display), puppeteer's switches against throttling
off, the embedded model, one sequence after another of 50 tokens: for ${ROW_MS / 1000} s on the CPU backend with one thread, then for as
long on ${adapterName}. Each row has its fastest sequence: a browser that held the engine back would slow all of them, and a
busy machine slows only some. Another tab of the same window came to the front, and in the end the first one again.

${[line(head), rule, ...cells.map(line)].join("\n")}

The last column counts a timer of the page that wants ten ticks a second, from the row before to the end of this one. It shows
how far the browser throttled the page meanwhile: to one tick a second, and after a while to one a minute. Not measured: a
minimised window.
`;
}
