// npm run bench -- peers: Chorus beside transformers.js and wllama, on the same weights, in one browser.

import { ensureChromium } from "../../tools/browsers/install-chromium.mjs";
import { run } from "../../tools/run-command.mjs";
import { loadModule } from "../runs/load-module.mjs";

/** @type {Record<string, import("../../tools/browsers/chromium-flags.mjs").Adapter>} */
const ADAPTERS = { swiftshader: "software", software: "software", real: "real" };
/** @type {Record<string, import("./contenders.ts").Place>} */
const PLACES = { gpu: "gpu", webgpu: "gpu", cpu: "cpu" };

/**
 * Installs the peers, builds the library, measures and writes the report. Returns whether it could be built.
 *
 * @typedef {{ size?: string, backend?: string, rounds?: string, quick?: boolean, adapter?: string, as?: string }} Options
 */
export async function benchPeers(
  /** @type {Options} */ { size = "small", backend = "gpu", rounds, quick = false, ...options },
) {
  const adapter = ADAPTERS[options.adapter ?? process.env.CHORUS_ADAPTER ?? "swiftshader"] ?? "software";
  // Before anything reads it.
  process.env.CHORUS_ADAPTER = adapter;
  const { installPeers } = await import("./install.mjs");
  const executablePath = await ensureChromium();
  const versions = await installPeers();
  console.log("Building the library…");
  const outDir = ".chorus/peers/lib";
  if (!(await run(`vite build --config vite.lib.config.ts --outDir ${outDir}`, { output: "if-failed" }))) return false;
  const { runComparison } = await loadModule("lab/peers/bench.ts");
  await runComparison({
    size,
    isQuick: quick,
    rounds: rounds === undefined ? null : Number(rounds),
    place: PLACES[backend] ?? "gpu",
    adapter,
    adapterName: options.as ?? null,
    executablePath,
    versions,
  });
  return true;
}
