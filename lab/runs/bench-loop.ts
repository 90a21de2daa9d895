// npm run bench -- loop: a step's cost in JavaScript, in Node, on a GPU that computes nothing. Writes
// docs/benchmarks/loop.md between two comments.

import { existsSync } from "node:fs";
import { join, resolve as absolute } from "node:path";

import { build } from "vite";

import { root } from "../../tools/run-command.mjs";
import type { LoopCost } from "../costs/loop-cost.ts";
import { writeMeasured } from "../report/measured-part.ts";
import { markdownTable } from "../report/table.ts";
import { medianOf } from "../statistics.ts";
import type { OptionsOf } from "./bench-parts.ts";

const REPORT = "docs/benchmarks/loop.md";
const SEQUENCES = [1, 8, 16];

export async function run({ rounds = "3", against }: OptionsOf<"loop">): Promise<void> {
  if (against !== undefined && !existsSync(join(against, "vite.config.ts"))) {
    throw new Error(`--against ${against}: there is no checkout of Chorus in this folder.`);
  }
  const folders = against === undefined ? [root] : [absolute(against), root];
  const measured = describe(await measure(folders, Number(rounds)));
  writeMeasured(REPORT, measured);
  console.log(`${measured}\n\nWritten to ${REPORT}.`);
}

/** Returns the costs by folder. */
async function measure(folders: readonly string[], rounds: number): Promise<LoopCost[][]> {
  const entry = join(root, "lab", "costs", "loop-cost.ts");
  const programs = [];
  for (const [i, folder] of folders.entries()) {
    const outDir = join(root, ".chorus", "bench-loop", String(i));
    // An older checkout lacks the benchmark, so this one's imports that one's engine.
    const engineOf = {
      name: "engine-of",
      enforce: "pre" as const,
      resolveId: (source: string, importer?: string) =>
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
    programs.push(await import(/* @vite-ignore */ join(outDir, "loop-cost.mjs")));
  }
  const all: LoopCost[][] = folders.map(() => []);
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

/** @param all by folder: before, where there is one, and now */
function describe(all: readonly (readonly LoopCost[])[]): string {
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
