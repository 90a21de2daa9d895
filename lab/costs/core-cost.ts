import { Engine } from "../../src/engine/engine.ts";
import type { StepResult } from "../../src/engine/runner.ts";
import type { StepPlan } from "../../src/engine/step-plan.ts";
import { printTable } from "../report/table.ts";
import { medianOf, percentileOf } from "../statistics.ts";
import { PLAIN_REQUEST, ROOMY, samplingParams } from "../../tests/fakes/engine-harness.ts";

interface CoreCost {
  readonly medianMs: number;
  readonly p95Ms: number;
}

const WARM_UP_STEPS = 300;
const MEASURED_STEPS = 1500;

/** A runner that costs next to nothing. */
function submit(plan: StepPlan): Promise<StepResult> {
  const result = { scored: [], drawn: [{ tokenId: 65, logprob: -1 }] };
  return Promise.resolve({ sequences: plan.sequences.map(() => result), gpuMs: null });
}

/** Times single steps of sequences that all decode, with prefix caching and run-ahead. */
async function measureCoreCost(numSequences: number): Promise<CoreCost> {
  const maxTokens = WARM_UP_STEPS + MEASURED_STEPS + 10;
  const tokenBytes = Uint8Array.of(65);
  const engine = new Engine({
    config: {
      ...ROOMY,
      maxNumSeqs: numSequences,
      maxModelLen: maxTokens + 16,
      blockSize: 16,
      numGpuBlocks: numSequences * Math.ceil((maxTokens + 16) / 16),
      runAhead: 2,
      enablePrefixCaching: true,
    },
    runner: { submit },
    eosTokenIds: [],
    tokenBytes: () => tokenBytes,
    now: () => performance.now(),
    delay: () => Promise.resolve(),
    onOutputs: () => undefined,
    onFatal: (error) => {
      throw error;
    },
  });
  for (let i = 0; i < numSequences; i++) {
    engine.add({ requestId: `${i}`, prompt: [i], params: samplingParams({ maxTokens }), ...PLAIN_REQUEST });
  }
  for (let i = 0; i < WARM_UP_STEPS; i++) await engine.step();
  const times: number[] = [];
  for (let i = 0; i < MEASURED_STEPS; i++) {
    const startMs = performance.now();
    await engine.step();
    times.push(performance.now() - startMs);
  }
  return { medianMs: medianOf(times), p95Ms: percentileOf(times, 95) };
}

/** In Node, without a GPU: the JavaScript of planning, committing and reporting a decode step. */
export async function printCoreCosts(): Promise<void> {
  const rows = [];
  for (const sequences of [1, 2, 4, 8, 16, 32, 64, 128, 256]) {
    const { medianMs, p95Ms } = await measureCoreCost(sequences);
    rows.push([sequences, medianMs.toFixed(4), p95Ms.toFixed(4), ((1000 * medianMs) / sequences).toFixed(2)]);
  }
  printTable("Cost of the core, a decode step", ["sequences", "median, ms", "p95, ms", "median, µs a sequence"], rows);
}
