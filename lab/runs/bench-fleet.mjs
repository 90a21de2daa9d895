// npm run bench -- fleet: a simulation of many users on many servers. The step times are measured here, on the CPU backend with
// the embedded model; scheduler, paged cache and prefix cache are the real ones (lab/fleet).

import { openAsBlob, readdirSync } from "node:fs";
import { join } from "node:path";

import { root, run } from "../../tools/run-command.mjs";

const MODEL = "public/models/chorus-chat";
const DECODE_ROWS = [1, 2, 4, 8, 16, 32, 64];
const PROMPT_ROWS = [128, 256];
const NEW_TOKENS = 24;
const SECONDS = 40;
/** @type {readonly (readonly [users: number, replicas: number])[]} */
const FLEETS = [
  [10, 1],
  [100, 1],
  [100, 4],
  [300, 10],
  [1000, 10],
  [1000, 30],
  [3000, 100],
  [10_000, 100],
];

export async function benchFleet(/** @type {{ quick?: boolean | undefined }} */ { quick = false }) {
  if (!(await run("npm run --silent build", { output: "if-failed" }))) process.exit(1);
  const { runnerImport } = await import("vite");
  const load = (/** @type {string} */ path) => runnerImport(path, { configFile: false, root });
  const { simulateFleet } = (await load("./lab/fleet/simulate-fleet.ts")).module;
  const { printTable } = (await load("./lab/costs/bench.ts")).module;
  const points = await measureSteps();
  printTable(
    `A step of the embedded model on one thread of this machine's CPU, Node ${process.versions.node}`,
    ["rows", "ms"],
    points.map(([rows, ms]) => [rows, ms.toFixed(2)]),
  );
  const rows = [];
  for (const [users, replicas] of quick ? FLEETS.slice(0, 3) : FLEETS) {
    for (const balancing of replicas === 1 ? ["least connections"] : ["least connections", "prefix"]) {
      const result = await simulateFleet({ users, replicas, balancing, cost: costFrom(points), seconds: SECONDS });
      rows.push([
        users,
        replicas,
        balancing,
        result.ttftMs.p50.toFixed(0),
        result.ttftMs.p95.toFixed(0),
        result.itlMs.p50.toFixed(1),
        result.itlMs.p95.toFixed(1),
        `${(100 * result.prefixHits).toFixed(0)}%`,
        `${(100 * result.use).toFixed(0)}%`,
      ]);
    }
  }
  const head = ["users", "servers", "balanced by", "TTFT p50, ms", "p95", "ITL p50, ms", "p95", "prefix hits", "busy"];
  printTable(
    `Simulated: questions every 30 s on average, ${SECONDS} s of which the last ${0.75 * SECONDS} count`,
    head,
    rows,
  );
  console.log(`Left out: the network and the balancer's own time; JavaScript beside the steps (planning, HTTP, JSON); servers that fail;
users who leave; step times that depend on how long contexts are; anything but the embedded model on a CPU.`);
}

/** The median step for each number of rows. @returns {Promise<[rows: number, ms: number][]>} */
async function measureSteps() {
  const { createEngine } = await import(new URL("../../dist/lib/chorus.js", import.meta.url).href);
  const model = await Promise.all(
    readdirSync(join(root, MODEL)).map(async (name) => new File([await openAsBlob(join(root, MODEL, name))], name)),
  );
  const options = {
    model,
    worker: false,
    backend: "cpu",
    cpuThreads: 1,
    enablePrefixCaching: false,
    maxNumBatchedTokens: 256,
  };
  const engine = await createEngine(options);
  /** @type {Map<number, number[]>} */
  const times = new Map();
  engine.on("step", (/** @type {{ rows: number, stepMs: number }} */ { rows, stepMs }) => {
    times.set(rows, [...(times.get(rows) ?? []), stepMs]);
  });
  const prompt = (/** @type {number} */ length) => Array.from({ length }, () => 1 + Math.floor(Math.random() * 1000));
  for (const count of DECODE_ROWS) {
    const prompts = Array.from({ length: count }, () => prompt(8));
    await engine.completions.create({ prompt: prompts, max_tokens: NEW_TOKENS, temperature: 0, ignore_eos: true });
  }
  for (const length of PROMPT_ROWS) {
    for (let i = 0; i < 5; i++)
      await engine.completions.create({ prompt: prompt(length), max_tokens: 1, temperature: 0 });
  }
  await engine.dispose();
  return [...DECODE_ROWS, ...PROMPT_ROWS].map((rows) => {
    const sorted = (times.get(rows) ?? []).sort((a, b) => a - b);
    return [rows, sorted[Math.floor(sorted.length / 2)] ?? Number.NaN];
  });
}

/** Straight lines between the measured points, and on beyond the last. */
function costFrom(/** @type {[number, number][]} */ points) {
  return (/** @type {number} */ rows) => {
    const at = Math.max(
      1,
      points.findIndex(([measured]) => measured >= rows),
    );
    const next = rows > (points.at(-1)?.[0] ?? 0) ? points.length - 1 : at;
    const [[x0, y0], [x1, y1]] = [points[next - 1] ?? [0, 0], points[next] ?? [1, 1]];
    return Math.max(0.01, y0 + ((rows - x0) / (x1 - x0)) * (y1 - y0));
  };
}
