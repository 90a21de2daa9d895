// npm run bench: the core's cost in Node, then what Chromium measures (*.gpu.bench.ts). Words narrow it: npm run bench -- order

import "./require-node.mjs";

import { run } from "./run-command.mjs";
import { setUp } from "./setup.mjs";

await setUp();
const filters = process.argv.slice(2);

if (filters.length === 0 || filters.includes("core")) {
  const { runnerImport } = await import("vite");
  const { module: bench } = await runnerImport("./src/testing/core-cost.ts", { configFile: false });
  await bench.printCoreCosts();
}
if (filters.length === 0 || !filters.includes("core")) {
  const { ensureChromium } = await import("./install-chromium.mjs");
  process.env.CHORUS_CHROMIUM = await ensureChromium();
  const succeeded = await run(`vitest run --project bench ${filters.join(" ")}`);
  process.exitCode = succeeded ? 0 : 1;
}
