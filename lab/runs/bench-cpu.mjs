// The CPU backend on a model with random weights. In Chromium: attention by itself, and what each kind of operation takes of
// a step, beside what the core can do at most. In plain Node, by the library as it was built: tokens a second over whole
// requests, prompts included. Node 20 has no relaxed SIMD, and its compiler makes slower code of the same kernels: compare
// within one table.

import { availableParallelism } from "node:os";
import { join } from "node:path";

import { launchChromium } from "../../tools/launch-chromium.mjs";
import { root, run } from "../../tools/run-command.mjs";
import { loadModule } from "./load-module.mjs";

const PROMPT_TOKENS = 32;
const NEW_TOKENS = 64;
const SEQUENCES = [1, 4, 8, 16];

/** @typedef {{ size?: string | undefined, dtype?: string | undefined, repeats?: string | undefined }} Options */

/**
 * @param {string} executablePath of Chromium
 * @param {Options} options a size of the benchmark page; one dtype [f32, q8 and q4]; rounds; the best one counts
 */
export async function benchCpu(executablePath, { size = "small", dtype, repeats = "3" }) {
  await benchSteps(executablePath, size, dtype ? [dtype] : ["f32", "f16", "q8", "q4"]);
  if (!(await run("npm run --silent build", { output: "if-failed" }))) process.exit(1);
  const { MODEL_SIZES } = await loadModule("lab/model/model-sizes.ts");
  const { makeRandomModel } = await loadModule("lab/model/random-model.ts");
  const { printTable } = await loadModule("lab/report/table.ts");
  const { createEngine } = await import(new URL("../../dist/lib/chorus.js", import.meta.url).href);
  const { vocabSize } = MODEL_SIZES[size];
  const model = makeRandomModel(MODEL_SIZES[size], 1);

  const rows = [];
  for (const kept of dtype ? [dtype] : ["f32", "q8", "q4"]) {
    for (const cpuThreads of availableParallelism() > 1 ? [1, 2] : [1]) {
      const engine = await createEngine({ model, worker: false, backend: "cpu", cpuThreads, dtype: kept });
      const row = [kept, cpuThreads];
      for (const count of SEQUENCES) {
        let best = 0;
        for (let round = 0; round < Number(repeats); round++) {
          const prompts = Array.from({ length: count }, () => randomTokens(vocabSize));
          const startMs = performance.now();
          await engine.completions.create({
            prompt: prompts,
            max_tokens: NEW_TOKENS,
            temperature: 0,
            ignore_eos: true,
          });
          best = Math.max(best, (1000 * count * NEW_TOKENS) / (performance.now() - startMs));
        }
        row.push(Math.round(best));
      }
      rows.push(row);
      await engine.dispose();
    }
  }
  const title = `${size} on the CPU in Node ${process.versions.node}: tokens a second, the best of ${repeats} rounds`;
  printTable(title, ["weights", "threads", ...SEQUENCES.map((count) => `${count} seqs`)], rows);
}

/**
 * @param {string} executablePath
 * @param {string} size
 * @param {string[]} dtypes
 */
async function benchSteps(executablePath, size, dtypes) {
  const { build } = await import("vite");
  const outDir = join(root, ".chorus", "bench-cpu");
  const paths = ["lab/costs/cpu-step-cost.ts", "lab/costs/cpu-attention-cost.ts"];
  const entry = paths.map((path) => join(root, path));
  /** @type {import("vite").LibraryOptions} */
  const lib = { entry, formats: ["es"], fileName: (_, name) => `${name}.js` };
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: "error",
    build: { target: "esnext", outDir, lib },
  });
  const { serveFolders } = await loadModule("lab/peers/file-server.ts");
  const server = await serveFolders(
    new Map([
      ["bench", outDir],
      ["pages", join(root, "lab/peers/engines")],
    ]),
  );
  const browser = await launchChromium(executablePath);
  try {
    const page = await browser.newPage();
    page.on("console", (message) => message.type() === "log" && console.log(message.text()));
    // Any page that is there: what it would load is another bench's.
    await page.goto(`${server.url}pages/in-turn.mjs`);
    const bench = `${server.url}bench/`;
    await page.evaluate(async (url) => (await import(url)).printCpuAttentionCosts(), `${bench}cpu-attention-cost.js`);
    await page.evaluate(async (given) => (await import(given.url)).printCpuStepCosts(given.size, given.dtypes), {
      url: `${bench}cpu-step-cost.js`,
      size,
      dtypes,
    });
  } finally {
    await browser.close();
    server.close();
  }
}

/** New ones each time, so that none is found in the prefix cache. */
function randomTokens(/** @type {number} */ vocabSize) {
  return Array.from({ length: PROMPT_TOKENS }, () => 1 + Math.floor(Math.random() * (vocabSize - 1)));
}
