// npm run bench -- memory: the peak of JavaScript's memory while a model loads, for each way of loading. It must stay under
// the largest tensor plus 64 MiB, however large the model is. --size gpt2 (or another of the benchmark's)
// takes a model of that size, and only prints.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { build, preview } from "vite";

import { adapter } from "../../tools/browsers/chromium-flags.mjs";
import { launchChromium } from "../../tools/launch-chromium.mjs";
import { startHeapMeter } from "./heap-meter.mjs";
import { loadModule } from "./load-module.mjs";
import { root } from "../../tools/run-command.mjs";

const MIB = 2 ** 20;
const ALLOWANCE_BYTES = 64 * MIB;
const REPORT = "docs/benchmarks/memory.md";
/** In f32 six times its largest tensor. */
const SIZE = { nLayer: 9, nEmbd: 768, nHead: 12, vocabSize: 16384, nPositions: 1024 };
const SHARDS = 4;
const HUB_ID = "chorus/large";
/** The weights are what is measured; the cache is the GPU's, and takes time to be cleared. */
const ENGINE = { backend: "webgpu", maxNumSeqs: 4, maxNumBatchedTokens: 32, maxModelLen: 256, numGpuBlocks: 64 };

/** @typedef {{ way: string, dtype: string, model?: string, hubUrl?: string, files?: string[] }} Way */
/** @typedef {{ way: string, dtype: string, peak: import("./heap-meter.mjs").Held, keptBytes: number, loadMs: number,
 *   samples: number, longestGapMs: number }} Measured */

/**
 * Prints what was measured, and writes it down. Fails where a load takes more than it may.
 *
 * @param {string} executablePath
 * @param {string | undefined} sizeName
 */
export async function benchMemory(executablePath, sizeName) {
  const sizes = await loadModule("lab/model/model-sizes.ts");
  if (sizeName !== undefined && !sizes.isSizeName(sizeName)) throw new Error(`--size ${sizeName}: there is none such.`);
  const size = sizeName === undefined ? SIZE : sizes.MODEL_SIZES[sizeName];
  const folder = mkdtempSync(join(tmpdir(), "chorus-memory-"));
  const outDir = join(folder, "lib");
  const configFile = join(root, "vite.lib.config.ts");
  await build({ root, configFile, logLevel: "warn", build: { outDir, emptyOutDir: true } });
  writeFileSync(join(outDir, "index.html"), '<!doctype html><title>Memory</title><input type="file" multiple>');
  const page = await preview({ root, configFile, logLevel: "warn", build: { outDir }, preview: { host: "127.0.0.1" } });
  const url = page.resolvedUrls?.local[0] ?? "";
  const models = await loadModule("tests/models/large-model.ts");
  const servers = await loadModule("tests/fakes/model-server.ts");
  const server = await servers.ModelServer.start();
  try {
    const model = await models.makeLargeModel(size);
    const sharded = await models.makeLargeModel(size, SHARDS);
    const boundBytes = model.largestTensorBytes + ALLOWANCE_BYTES;
    serveFolder(server, "one", model.files);
    serveFolder(server, "sharded", sharded.files);
    server.serveAsHub(HUB_ID, model.files);
    /** @type {Way[]} */
    const ways = [
      { way: "a folder by URL", dtype: "f32", model: `${server.url}one/` },
      { way: "a folder by URL", dtype: "f16", model: `${server.url}one/` },
      { way: "a folder by URL", dtype: "q8", model: `${server.url}one/` },
      { way: `a folder by URL, ${SHARDS} shards`, dtype: "f16", model: `${server.url}sharded/` },
      { way: "the hub, stored on its way", dtype: "f16", model: HUB_ID, hubUrl: server.url },
      { way: "files given", dtype: "f16", files: writeFiles(join(folder, "model"), model.files) },
    ];
    /** @type {Measured[]} */
    const results = [];
    for (const way of ways) {
      const measured = await measureLoad(executablePath, url, way);
      results.push(measured);
      const share = `${mib(measured.peak.bytes)} of ${mib(boundBytes)} MiB`;
      console.log(`${way.way} as ${way.dtype}: ${share}, ${(measured.loadMs / 1000).toFixed(1)} s`);
    }
    if (sizeName === undefined) {
      writeFileSync(join(root, REPORT), await report(model, boundBytes, results));
      console.log(`Written to ${REPORT}.`);
    }
    if (results.some(({ peak }) => peak.bytes >= boundBytes)) {
      console.error(`A load took more than the largest tensor plus ${mib(ALLOWANCE_BYTES)} MiB.`);
      process.exitCode = 1;
    }
  } finally {
    await server.close();
    await page.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * In a browser of its own.
 *
 * @returns {Promise<Measured>}
 */
async function measureLoad(
  /** @type {string} */ executablePath,
  /** @type {string} */ pageUrl,
  /** @type {Way} */ { way, dtype, model, hubUrl, files },
) {
  const browser = await launchChromium(executablePath);
  try {
    const page = await browser.newPage();
    await page.goto(pageUrl);
    if (files) await page.setInputFiles("input", files);
    const library = await page.evaluateHandle((/** @type {string} */ url) => import(url), `${pageUrl}chorus.js`);
    const meter = await startHeapMeter(page);
    const startMs = performance.now();
    const engine = await library.evaluateHandle(
      ({ createEngine }, options) => {
        const given = [...(document.querySelector("input")?.files ?? [])];
        return createEngine({ ...options, model: options.model ?? given });
      },
      { ...ENGINE, dtype, model, ...(hubUrl && { hubUrl }) },
    );
    const loadMs = performance.now() - startMs;
    const kept = await meter.settled();
    const { peak, samples, longestGapMs } = await meter.stop();
    await engine.evaluate((loaded) => loaded.dispose());
    return { way, dtype, peak, keptBytes: kept.bytes, loadMs, samples, longestGapMs };
  } finally {
    await browser.close();
  }
}

function serveFolder(
  /** @type {import("../../tests/fakes/model-server.ts").ModelServer} */ server,
  /** @type {string} */ folder,
  /** @type {ReadonlyMap<string, Uint8Array>} */ files,
) {
  for (const [name, bytes] of files) server.files.set(`${folder}/${name}`, bytes);
}

/** @returns {string[]} their paths */
function writeFiles(/** @type {string} */ folder, /** @type {ReadonlyMap<string, Uint8Array>} */ files) {
  mkdirSync(folder);
  return [...files].map(([name, bytes]) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  });
}

async function report(
  /** @type {{ weightBytes: number, largestTensorBytes: number }} */ { weightBytes, largestTensorBytes },
  /** @type {number} */ boundBytes,
  /** @type {readonly Measured[]} */ results,
) {
  const { markdownTable } = await loadModule("lab/report/table.ts");
  const head = [
    "loaded from",
    "kept as",
    "most held, MiB",
    "of it array buffers",
    "held in the end",
    "samples",
    "longest gap, ms",
  ];
  const rows = results.map(({ way, dtype, peak, keptBytes, samples, longestGapMs }) => [
    way,
    dtype,
    ...[peak.bytes, peak.bufferBytes, keptBytes].map(mib),
    String(samples),
    longestGapMs.toFixed(0),
  ]);
  return `# Memory while a model loads

Written by \`npm run bench -- memory\` on ${new Date().toISOString().slice(0, 10)}, Chromium on ${adapter === "software" ? "SwiftShader" : "the machine's GPU"}. A model of random weights,
${mib(weightBytes)} MiB in f32, is loaded from each kind of source, in a separate browser.

**At most ${mib(boundBytes)} MiB may be held at a time: its largest tensor (${mib(largestTensorBytes)}) plus ${mib(ALLOWANCE_BYTES)}.**

${markdownTable(head, rows).join("\n")}

Held memory is what Chromium's inspector counts in the page and all its workers (V8's heap, the DOM's heap, array buffers;
with garbage, except in the end), every 20 ms, minus what the page held before the load. A busy thread answers late: the last
column has the longest gap between two samples. Not counted: what the browser keeps for Blobs outside of JavaScript, and the
GPU process, which holds the weights.
`;
}

const mib = (/** @type {number} */ bytes) => (bytes / MIB).toFixed(1);
