// npm run bench -- policies: the scheduling policies on the same loads. Recorded runs (tests/fixtures/runs, or --recording FILE as
// recordRun writes it) and seeded loads are replayed on the real core, on a clock that a model of step times moves
// (lab/policies). --sequences N replays recordings with another maxNumSeqs.

import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { root } from "../../tools/run-command.mjs";
import { loadModule } from "./load-module.mjs";

const RECORDINGS = ["tests/fixtures/runs/mixed.jsonl", "tests/fixtures/runs/similar.jsonl"].map((path) =>
  join(root, path),
);
const POLICIES = ["fcfs", "priority", "shortest-remaining", "balanced"];
/** Seeds of a seeded load; each figure is the median over them. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const HEAD = [
  "policy",
  "wall, s",
  "tokens/s",
  "TTFT mean, ms",
  "p95",
  "end to end mean, ms",
  "p95",
  "inter-token p95, ms",
  "longest wait, ms",
  "preemptions",
];

/** @typedef {import("../policies/replay-load.ts").Load} Load */

export async function benchPolicies(
  /** @type {{ recording?: string | undefined, sequences?: string | undefined }} */ { recording, sequences },
) {
  const { readRecording } = await loadModule("src/recording/read-recording.ts");
  const { recordedLoad } = await loadModule("lab/policies/recorded-load.ts");
  const { replayLoad } = await loadModule("lab/policies/replay-load.ts");
  const { seededLoad, SEEDED_LOADS } = await loadModule("lab/policies/seeded-loads.ts");
  const { servingMetrics } = await loadModule("lab/load/serving-metrics.ts");
  const { medianOf } = await loadModule("lab/statistics.ts");
  const { printTable } = await loadModule("lab/report/table.ts");

  const figuresOf = async (/** @type {Load} */ one, /** @type {string} */ schedulingPolicy) => {
    const replay = await replayLoad(one, { schedulingPolicy });
    const metrics = servingMetrics({ requestRate: Infinity, maxConcurrency: null, ...replay });
    const { duration, output_throughput, mean_ttft_ms, p95_ttft_ms, mean_e2el_ms, p95_e2el_ms, p95_itl_ms } = metrics;
    const latencies = [mean_ttft_ms, p95_ttft_ms, mean_e2el_ms, p95_e2el_ms, p95_itl_ms];
    return [duration, output_throughput, ...latencies, replay.longestWaitMs, replay.numPreemptions];
  };
  const compare = async (/** @type {string} */ title, /** @type {Load[]} */ loads) => {
    const rows = [];
    for (const policy of POLICIES) {
      /** @type {number[][]} */
      const runs = [];
      for (const one of loads) runs.push(await figuresOf(one, policy));
      const [wall = 0, ...rest] = (runs[0] ?? []).map((_, i) => medianOf(runs.map((run) => run[i])));
      rows.push([policy, wall.toFixed(2), ...rest.map((figure) => figure.toFixed(0))]);
    }
    printTable(title, HEAD, rows);
  };

  for (const file of recording ? [recording] : RECORDINGS) {
    const recorded = recordedLoad(basename(file), readRecording(readFileSync(file, "utf8")));
    if (sequences) recorded.config.maxNumSeqs = Number(sequences);
    const { baseMs, perRowMs, perAttendedMs } = recorded.stepTime;
    const stepTime = `${baseMs.toFixed(1)} ms + ${perRowMs.toFixed(2)} a row + ${(1000 * perAttendedMs).toFixed(2)} a thousand positions`;
    const error = `median error ${(100 * recorded.fitError).toFixed(0)}%`;
    const size = `${recorded.requests.length} requests, ${recorded.config.maxNumSeqs} slots`;
    await compare(`Recorded: ${recorded.name}, ${size}; a step takes ${stepTime} (${error})`, [recorded]);
  }
  if (recording) return;
  for (const name of SEEDED_LOADS) {
    const loads = SEEDS.map((seed) => seededLoad(name, seed));
    await compare(`Seeded: ${name} (medians of ${SEEDS.length} seeds)`, loads);
  }
}
