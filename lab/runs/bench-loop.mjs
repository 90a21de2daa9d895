// npm run bench -- loop: a step's cost in JavaScript, in Node, on a GPU that computes nothing. Writes
// docs/benchmarks/loop.md between two comments.

import { existsSync } from "node:fs";
import { join, resolve as absolute } from "node:path";

import { build } from "vite";

import { root } from "../../tools/run-command.mjs";
import { loadModule } from "./load-module.mjs";

const REPORT = "docs/benchmarks/loop.md";
const SEQUENCES = [1, 8, 16];

/** @typedef {import("../costs/loop-cost.ts").LoopCost} LoopCost */

/** @param {{ rounds?: string, against?: string }} options */
export async function benchLoop({ rounds = "3", against }) {
  if (against !== undefined && !existsSync(join(against, "vite.config.ts"))) {
    throw new Error(`--against ${against}: there is no checkout of Chorus in this folder.`);
  }
  const folders = against === undefined ? [root] : [absolute(against), root];
  const measured = await describe(await measure(folders, Number(rounds)));
  const { writeMeasured } = await loadModule("lab/report/measured-part.ts");
  writeMeasured(REPORT, measured);
  console.log(`${measured}\n\nWritten to ${REPORT}.`);
}

/** @param {string[]} folders @param {number} rounds @returns {Promise<LoopCost[][]>} by folder */
async function measure(folders, rounds) {
  const entry = join(root, "lab", "costs", "loop-cost.ts");
  const programs = [];
  for (const [i, folder] of folders.entries()) {
    const outDir = join(root, ".chorus", "bench-loop", String(i));
    // An older checkout lacks the benchmark, so this one's imports that one's engine.
    const engineOf = {
      name: "engine-of",
      enforce: /** @type {const} */ ("pre"),
      resolveId: (/** @type {string} */ source, /** @type {string | undefined} */ importer) =>
        importer === entry && source.startsWith("../../") ? join(folder, source.slice(6)) : null,
    };
    const output = { entryFileNames: "[name].mjs" };
    await build({
      root: folder,
      configFile: false,
      publicDir: false,
      logLevel: "error",
      plugins: [engineOf],
      ssr: { noExternal: true },
      build: { target: "esnext", outDir, emptyOutDir: true, ssr: entry, rolldownOptions: { output } },
    });
    programs.push(await import(join(outDir, "loop-cost.mjs")));
  }
  /** @type {LoopCost[][]} */
  const all = folders.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const sequences of SEQUENCES) {
      for (const isWatched of [false, true]) {
        for (const [i, { measureLoopCost }] of programs.entries()) {
          all[i]?.push(await measureLoopCost(join(root, "public/models/chorus-chat"), sequences, isWatched));
        }
      }
    }
  }
  return all;
}

/** @param {LoopCost[][]} all by folder: before, where there is one, and now */
async function describe(all) {
  const { markdownTable } = await loadModule("lab/report/table.ts");
  const { medianOf } = await loadModule("lab/statistics.ts");
  const names = all.length === 1 ? ["now"] : ["before", "now"];
  const head = ["at once", "the page listens", ...names, ...names.map((name) => `bytes, ${name}`)];
  const rows = SEQUENCES.flatMap((sequences) =>
    [false, true].map((isWatched) => {
      const own = all.map((costs) =>
        costs.filter((cost) => cost.sequences === sequences && cost.isWatched === isWatched),
      );
      const times = own.map((costs) => `${medianOf(costs.map(({ cpuUs }) => cpuUs)).toFixed(0)} µs`);
      const bytes = own.map((costs) => medianOf(costs.map(({ messageBytes }) => messageBytes)).toFixed(0));
      return [String(sequences), isWatched ? "to steps" : "no", ...times, ...bytes];
    }),
  );
  const calls = Object.entries(all.at(-1)?.[0]?.calls ?? {}).map(([name, count]) => `${name} ${count.toFixed(1)}`);
  return [
    `Processor time a step in Node ${process.versions.node}, and the message's bytes; the median of ${(all[0]?.length ?? 0) / SEQUENCES.length / 2} runs by turns.`,
    markdownTable(head, rows).join("\n"),
    `Calls of WebGPU in a step of one sequence: ${calls.join(", ")}.`,
  ].join("\n\n");
}
