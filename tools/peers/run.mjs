// npm run bench -- peers: Chorus beside transformers.js and wllama, on the same weights, in one browser.

import "../require-node.mjs";

import { parseArgs } from "node:util";

import { run } from "../run-command.mjs";
import { setUp } from "../setup.mjs";

const USAGE = `npm run bench -- peers [--size small|tiny|gpt2|tiny-llama|smollm2-135m|embedded]
                        [--backend gpu|cpu] [--quick] [--rounds N]
                        [--adapter swiftshader|real] [--as NAME]

  --size     the model: random weights of this size, or the embedded model   [small]
  --backend  where all of them compute; on the CPU each with one thread and with two    [gpu]
  --rounds   how often each is asked; the figures are medians                          [3, quick: 1]
  --quick    one round, shorter answers
  --adapter  Chromium's software adapter, or the machine's GPU               [as CHORUS_ADAPTER says: swiftshader]
  --as       what to call the adapter, where the browser does not say it well

CHROME_PATH names another browser.`;

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: "string", default: "small" },
    backend: { type: "string", default: "gpu" },
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    adapter: { type: "string", default: process.env.CHORUS_ADAPTER ?? "swiftshader" },
    as: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
/** @type {Record<string, import("../chromium-flags.mjs").Adapter>} */
const adapters = { swiftshader: "software", software: "software", real: "real" };
const adapter = adapters[values.adapter];
/** @type {Record<string, import("./contenders.ts").Place>} */
const places = { gpu: "gpu", webgpu: "gpu", cpu: "cpu" };
const place = places[values.backend];
if (values.help || !adapter || !place) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 1);
}
// Before anything reads it.
process.env.CHORUS_ADAPTER = adapter;

await setUp();
const { ensureChromium } = await import("../install-chromium.mjs");
const { installPeers } = await import("./install.mjs");
const { runnerImport } = await import("vite");
try {
  const executablePath = await ensureChromium();
  const versions = await installPeers();
  console.log("Building the library…");
  const outDir = ".chorus/peers/lib";
  if (!(await run(`vite build --config vite.lib.config.ts --outDir ${outDir}`, { output: "if-failed" })))
    process.exit(1);
  const { module: bench } = await runnerImport("./tools/peers/bench.ts", { configFile: false });
  await bench.runComparison({
    size: values.size,
    isQuick: values.quick,
    rounds: values.rounds ? Number(values.rounds) : null,
    place,
    adapter,
    adapterName: values.as ?? null,
    executablePath,
    versions,
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
