import { Engine } from "../../src/engine/engine.ts";
import type { SequenceOutput } from "../../src/engine/text/output.ts";
import type { StepPlan } from "../../src/engine/step-plan.ts";
import { ROW_WORDS } from "../../src/engine/step-plan.ts";
import type { StepResult } from "../../src/engine/runner.ts";
import { PLAIN_REQUEST, ROOMY, samplingParams } from "../../tests/fakes/engine-harness.ts";

/** Milliseconds that a step of that many rows takes. */
export type StepCost = (rows: number) => number;

export interface ReplicaConfig {
  readonly maxNumSeqs: number;
  readonly maxModelLen: number;
  readonly numGpuBlocks: number;
}

/** Any token: what an answer says does not matter, only whose conversation it is in. */
const ANSWER_TOKEN = 1;
const DRAWN = { scored: [], drawn: [{ tokenId: ANSWER_TOKEN, logprob: -1 }] };
const NOT_DRAWN = { scored: [], drawn: [] };

/** A server of a simulated fleet: the real core, on a clock that only its own steps move. */
export class Replica {
  /** Requests that it has and has not ended, as a balancer counts them. */
  numOpen = 0;
  /** When it can start another step; Infinity: it has nothing to do. */
  readyMs = Infinity;
  busyMs = 0;
  promptTokens = 0;
  cachedTokens = 0;
  readonly #engine: Engine;
  #nowMs = 0;
  #outputs: SequenceOutput[] = [];

  constructor(config: ReplicaConfig, cost: StepCost) {
    const bytes = Uint8Array.of(65);
    this.#engine = new Engine({
      config: { ...ROOMY, ...config, blockSize: 16, enablePrefixCaching: true },
      runner: { submit: (plan) => this.#compute(plan, cost) },
      eosTokenIds: [],
      tokenBytes: () => bytes,
      now: () => this.#nowMs,
      delay: () => Promise.resolve(),
      onOutputs: (outputs, _, requests) => {
        this.#outputs.push(...outputs);
        for (const { status, promptTokens, cachedTokens } of requests) {
          if (status !== "finished") continue;
          this.promptTokens += promptTokens;
          this.cachedTokens += cachedTokens;
        }
      },
      onFatal: (error) => {
        throw error;
      },
    });
  }

  add(requestId: string, prompt: readonly number[], maxTokens: number, atMs: number): void {
    this.numOpen++;
    this.#engine.add({ requestId, prompt, params: samplingParams({ maxTokens, ignoreEos: true }), ...PLAIN_REQUEST });
    if (this.readyMs === Infinity) this.readyMs = atMs;
  }

  /** Takes what the step before brought, and computes the next one. Its outputs are known when it ends. */
  async step(): Promise<readonly SequenceOutput[]> {
    const known = this.#outputs;
    this.#outputs = [];
    for (const { finishReason } of known) if (finishReason !== null) this.numOpen--;
    const startMs = this.readyMs;
    this.#nowMs = startMs;
    const hasStepped = await this.#engine.step();
    this.busyMs += this.#nowMs - startMs;
    this.readyMs = hasStepped ? this.#nowMs : Infinity;
    return known;
  }

  #compute(plan: StepPlan, cost: StepCost): Promise<StepResult> {
    this.#nowMs += cost(plan.rows.length / ROW_WORDS);
    const sequences = plan.sequences.map(({ numDrawn }) => (numDrawn > 0 ? DRAWN : NOT_DRAWN));
    return Promise.resolve({ sequences, gpuMs: null });
  }
}
