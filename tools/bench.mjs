// npm run bench: what the engine's core costs in JavaScript, in Node, without a GPU: planning a step and taking it in.

import "./require-node.mjs";

import { setUp } from "./setup.mjs";

await setUp();

const { runnerImport } = await import("vite");
const { module: bench } = await runnerImport("./src/testing/core-cost.ts", { configFile: false });

/** @type {import("../src/testing/core-cost.ts").CoreCost[]} */
const costs = [];
for (const numSequences of [1, 2, 4, 8, 16, 32, 64, 128, 256]) costs.push(await bench.measureCoreCost(numSequences));

console.log("Cost of the core: JavaScript time of a decode step, planned, committed and reported (Node, no GPU)\n");
console.log("sequences   median ms      p95 ms   µs a sequence");
for (const { numSequences, medianMs, p95Ms } of costs) {
  const cells = [numSequences, medianMs.toFixed(4), p95Ms.toFixed(4), ((1000 * medianMs) / numSequences).toFixed(2)];
  console.log(cells.map((cell, i) => String(cell).padStart([9, 12, 12, 16][i] ?? 0)).join(""));
}
