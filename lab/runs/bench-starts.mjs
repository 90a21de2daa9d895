// npm run bench -- starts: from createEngine to the first token, and from opening the app to the first word, in browsers that
// have never seen either; and how long each pipeline takes to compile. Writes docs/benchmarks/starts.md between two comments.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { adapter } from "../../tools/browsers/chromium-flags.mjs";
import { launchProfile } from "../../tools/launch-chromium.mjs";
import { firstWordMs } from "./first-word.mjs";
import { buildAndServe } from "../../tools/serve-app.mjs";
import { loadModule } from "./load-module.mjs";
import { slowServer } from "./slow-server.mjs";
import { writeMeasured } from "./write-measured.mjs";

const PORT = 4410;
const REPORT = "docs/benchmarks/starts.md";
const MODEL = "/models/chorus-chat/";
/** Of weights over a network: about 30 Mbit/s. */
const SLOW_BYTES_PER_SECOND = 4e6;

/** @typedef {Record<string, number[]>} Times */

/** @param {string} executablePath @param {{ rounds?: string }} options */
export async function benchStarts(executablePath, { rounds = "5" }) {
  const server = await buildAndServe(PORT);
  const slow = await slowServer(server.url, SLOW_BYTES_PER_SECOND);
  /** @type {Times} */
  const starts = {};
  /** @type {Times} */
  const pipelines = {};
  try {
    for (let round = 0; round < Number(rounds); round++) {
      await inNewBrowser(executablePath, (page) => measureEngine(page, server.url, starts, KINDS));
      const atSpeed = `nothing compiled, weights at ${SLOW_BYTES_PER_SECOND / 1e6} MB/s`;
      await inNewBrowser(executablePath, (page) => measureEngine(page, slow.url, starts, [atSpeed]));
      for (const backend of BACKENDS)
        await inNewBrowser(executablePath, (page) => measureApp(page, server.url, backend, starts));
      await inNewBrowser(executablePath, (page) => measurePipelines(page, server.url, pipelines));
      console.log(JSON.stringify(lastOf(starts)));
    }
  } finally {
    await slow.close();
    await server.close();
  }
  writeMeasured(REPORT, await tables(starts, pipelines));
}

const KINDS = /** @type {const} */ (["nothing compiled", "again, after a reload"]);
const BACKENDS = /** @type {const} */ (["webgpu", "cpu"]);

/**
 * Runs in a browser with an empty profile, so that nothing is compiled or kept.
 *
 * @param {string} executablePath
 * @param {(page: import("playwright").Page) => Promise<void>} measure
 */
async function inNewBrowser(executablePath, measure) {
  const profile = mkdtempSync(join(tmpdir(), "chorus-starts-"));
  const browser = await launchProfile(profile, executablePath);
  try {
    await measure(await browser.newPage());
  } finally {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** @param {import("playwright").Page} page @param {string} url @param {Times} times @param {readonly string[]} kinds of starts, one after the other */
async function measureEngine(page, url, times, kinds) {
  for (const kind of kinds) {
    // Any file of the same origin that is no page of ours: the figures are the library's.
    await page.goto(`${url}${MODEL.slice(1)}config.json`);
    const { readyMs, tokenMs } = await page.evaluate(async (model) => {
      const library = new URL("/lib/chorus.js", location.href).href;
      const { createEngine } = /** @type {typeof import("../../src/index.ts")} */ (await import(library));
      const kernels = { missing: 0 };
      const beganMs = performance.now();
      const engine = await createEngine({
        model,
        backend: "webgpu",
        onProgress: ({ stage, done, total }) => {
          if (stage === "kernels") kernels.missing = total - done;
        },
      });
      const readyAfterMs = performance.now() - beganMs;
      await engine.completions.create({ prompt: "Once upon a time", max_tokens: 1, temperature: 0 });
      const tokenAfterMs = performance.now() - beganMs;
      // What follows the first step is over before the page is left: else the next start would share the cores with it.
      while (kernels.missing > 0) await new Promise((resolve) => setTimeout(resolve, 50));
      await engine.dispose();
      return { readyMs: readyAfterMs, tokenMs: tokenAfterMs };
    }, MODEL);
    add(times, `createEngine resolves, ${kind}`, readyMs);
    add(times, `first token, ${kind}`, tokenMs);
  }
}

/** @param {import("playwright").Page} page @param {string} url @param {"webgpu" | "cpu"} backend @param {Times} times */
async function measureApp(page, url, backend, times) {
  const where = backend === "cpu" ? "the CPU" : "WebGPU";
  for (const kind of KINDS) {
    add(times, `the app's first word on ${where}, ${kind}`, await firstWordMs(page, `${url}?backend=${backend}`));
    // A reload does not compete with what the app keeps for offline use.
    await page.evaluate(() => navigator.serviceWorker.ready);
  }
}

/** Compiles one pipeline after the other. @param {import("playwright").Page} page @param {string} url @param {Times} times */
async function measurePipelines(page, url, times) {
  await page.goto(`${url}${MODEL.slice(1)}config.json`);
  const compiled = await page.evaluate(async (model) => {
    /** @type {[string, number][]} */
    const received = [];
    /** @type {Promise<unknown>} */
    let last = Promise.resolve();
    // oxlint-disable-next-line unbound-method -- called with the device below
    const compile = GPUDevice.prototype.createComputePipelineAsync;
    GPUDevice.prototype.createComputePipelineAsync = function (descriptor) {
      const own = last.then(async () => {
        await this.queue.onSubmittedWorkDone();
        const beganMs = performance.now();
        const pipeline = await compile.call(this, descriptor);
        received.push([descriptor.label ?? "", performance.now() - beganMs]);
        return pipeline;
      });
      last = own.catch(() => undefined);
      return own;
    };
    const library = new URL("/lib/chorus.js", location.href).href;
    const { createEngine } = /** @type {typeof import("../../src/index.ts")} */ (await import(library));
    const kernels = { missing: 0 };
    const engine = await createEngine({
      model,
      backend: "webgpu",
      worker: false,
      onProgress: ({ stage, done, total }) => {
        if (stage === "kernels") kernels.missing = total - done;
      },
    });
    const first = received.length;
    while (kernels.missing > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    await engine.dispose();
    return received.map(([label, ms], i) => /** @type {const} */ ([label, ms, i < first]));
  }, MODEL);
  for (const [label, ms, isFirst] of compiled) add(times, `${isFirst ? "before" : "after"} ${label}`, ms);
}

/** @param {Times} times @param {string} name @param {number} ms */
function add(times, name, ms) {
  (times[name] ??= []).push(ms);
}

/** @param {Times} times */
function lastOf(times) {
  return Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, Math.round(ms.at(-1) ?? NaN)]));
}

/** @param {Times} starts @param {Times} pipelines */
async function tables(starts, pipelines) {
  const { markdownTable } = await loadModule("lab/report/table.ts");
  const { medianOf } = await loadModule("lab/statistics.ts");
  const adapterName = adapter === "software" ? "Chromium on SwiftShader" : "Chromium on the machine's GPU";
  const startRows = Object.entries(starts).map(([name, ms]) => [
    name,
    ...[medianOf(ms), Math.min(...ms)].map((one) => one.toFixed(0)),
  ]);
  const kernels = Object.entries(pipelines).map(([name, ms]) => {
    const [when = "", kernel = "", constants = ""] = name.split(" ");
    return [when, kernel, `\`${constants}\``, Math.min(...ms).toFixed(0)];
  });
  const total = (/** @type {string} */ when) =>
    kernels.reduce((sum, [own, , , ms]) => sum + (own === when ? Number(ms) : 0), 0).toFixed(0);
  return [
    `${adapterName}, the embedded model. Milliseconds: the median, and the best of ${Object.values(starts)[0]?.length ?? 0}.`,
    markdownTable(["from the call, or from opening the app", "median", "best"], startRows).join("\n"),
    `Each pipeline alone, the best time: ${total("before")} ms before the first step, ${total("after")} ms after it was possible.`,
    markdownTable(["first step", "kernel", "constants", "ms"], kernels).join("\n"),
  ].join("\n\n");
}
