import { Engine } from "../../src/engine/engine.ts";
import type { EngineOptions } from "../../src/engine/engine-options.ts";
import type { EngineRequest } from "../../src/engine/engine-request.ts";
import { resultsBySequence, type Runner, type Runners, type SampledToken } from "../../src/engine/runner.ts";
import type { Sample, StepPlan } from "../../src/engine/step-plan.ts";
import { NO_RULES } from "../../src/engine/sampling/logit-rules.ts";
import { NO_FILTERS, type SamplingParams } from "../../src/engine/sampling/sampling-params.ts";
import { ChorusError, type ChorusErrorData } from "../../src/protocol/errors.ts";
import type { FinishReason } from "../../src/protocol/openai.ts";
import type { RequestReport, StepReport } from "../../src/protocol/reports.ts";
import { FakeRunner } from "./fake-runner.ts";

/** Greedy, 8 tokens, nothing that stops it but length and end-of-text. */
export function samplingParams(changes: Partial<SamplingParams> = {}): SamplingParams {
  return {
    ...NO_RULES,
    ...NO_FILTERS,
    temperature: 0,
    seed: 0,
    topLogprobs: 0,
    promptLogprobs: null,
    maxTokens: 8,
    stop: [],
    stopTokenIds: [],
    includeStopStrInOutput: false,
    ignoreEos: false,
    ...changes,
  };
}

export const ROOMY: EngineOptions["config"] = {
  maxNumSeqs: 64,
  maxNumBatchedTokens: 256,
  maxModelLen: 128,
  blockSize: 4,
  numGpuBlocks: 2048,
  runAhead: 0,
  enablePrefixCaching: false,
  speculation: null,
  schedulingPolicy: "fcfs",
  batchingMode: "continuous",
  batchWindowMs: 0,
  longPrefillTokenThreshold: 0,
  maxQueueSize: Infinity,
};

/** The defaults of a request. */
export const PLAIN_REQUEST = {
  n: 1,
  beamSearch: null,
  param: "prompt",
  priority: 0,
  cacheSalt: null,
  deadlineMs: null,
} as const;

/** In the byte vocabulary a token is a byte of UTF-8, and this one ends the text. */
export const EOS = 256;
export const BYTE_VOCABULARY = Array.from({ length: 257 }, (_, id) =>
  id < 256 ? Uint8Array.of(id) : new Uint8Array(),
);

/** The byte vocabulary's tokens of a text. */
export function byteTokens(text: string): number[] {
  return [...new TextEncoder().encode(text)];
}

/** All that an engine has said about one choice. */
export interface Collected {
  text: string;
  tokenIds: number[];
  finishReason: FinishReason | null;
  stopReason: number | string | null;
  error: ChorusErrorData | null;
  /** Score of an answer of beam search. */
  score: number | null;
  /** The prompt's tokens but the first, scored; empty where that was not asked for. */
  promptScores: readonly SampledToken[];
}

interface HarnessOptions {
  readonly config?: Partial<EngineOptions["config"]>;
  readonly runner?: Runner;
  /** The promise that its sequences wait for before they start. [none] */
  readonly missing?: Runner["missing"];
  /** The runner of the model that drafts. [it is wrong three times out of ten] */
  readonly draftRunner?: Runner;
  /** Most tokens of a sequence in it. [as many as in the other model] */
  readonly draftLength?: number;
  /** How a lost runner is replaced. [by restoreDevice(), unless there is a special runner] */
  readonly replaceRunners?: EngineOptions["replaceRunners"];
  /** Resolves the sleep of an idle engine. */
  readonly delay?: EngineOptions["delay"];
  /** Bytes of each token; the last one is end-of-text. */
  readonly vocabulary?: readonly Uint8Array[];
}

/** An engine on a fake runner, a clock that ticks at each look, and everything it said. */
export class EngineHarness {
  readonly engine: Engine;
  readonly choices = new Map<string, Collected>();
  readonly steps: StepReport[] = [];
  readonly requests: RequestReport[] = [];
  readonly fatal: ChorusError[] = [];
  /** The config with the changes since. */
  config: EngineOptions["config"];
  readonly #newRunners: () => Runners;
  #isDeviceLost = false;
  #restore: ((runners: Runners) => void) | null = null;
  #clockMs = 0;

  constructor({
    config: changes = {},
    runner,
    missing,
    draftRunner,
    draftLength = Infinity,
    replaceRunners,
    delay,
    vocabulary = BYTE_VOCABULARY,
  }: HarnessOptions = {}) {
    const config = (this.config = { ...ROOMY, ...changes });
    const fake = { ...config, vocabSize: vocabulary.length };
    const drafts = () => this.#losable(draftRunner ?? new FakeRunner({ ...fake, numStateSlots: 0, mistakes: 3 }));
    this.#newRunners = () => ({
      runner: this.#losable(runner ?? new FakeRunner(fake), missing),
      draft: config.speculation?.method === "draft_model" ? { runner: drafts(), maxLength: draftLength } : null,
    });
    this.engine = new Engine({
      config,
      ...this.#newRunners(),
      ...(runner === undefined && { replaceRunners: () => new Promise((resolve) => (this.#restore = resolve)) }),
      ...(replaceRunners !== undefined && { replaceRunners }),
      eosTokenIds: [vocabulary.length - 1],
      tokenBytes: (tokenId) => vocabulary[tokenId] ?? new Uint8Array(),
      now: () => this.#clockMs++,
      delay: delay ?? (() => Promise.resolve()),
      onOutputs: (outputs, report, requests) => {
        if (report !== null) this.steps.push(report);
        this.requests.push(...requests);
        for (const output of outputs) {
          const choice = this.choice(output.requestId, output.index);
          if (choice.finishReason !== null) throw new Error(`${output.requestId} went on after its end.`);
          choice.text += output.text;
          choice.tokenIds.push(...output.tokenIds);
          if (output.promptScores.length > 0) choice.promptScores = output.promptScores;
          choice.finishReason = output.finishReason;
          choice.stopReason = output.stopReason;
          choice.error = output.error;
          choice.score = output.score;
        }
      },
      onFatal: (error) => this.fatal.push(error),
    });
  }

  choice(requestId: string, index = 0): Collected {
    const key = `${requestId}/${index}`;
    const choice = this.choices.get(key) ?? {
      text: "",
      tokenIds: [],
      finishReason: null,
      stopReason: null,
      error: null,
      score: null,
      promptScores: [],
    };
    this.choices.set(key, choice);
    return choice;
  }

  add(requestId: string, prompt: readonly number[], request: Partial<EngineRequest> = {}): void {
    this.engine.add({ requestId, prompt, params: samplingParams(), ...PLAIN_REQUEST, ...request });
  }

  /** Changes the config between two steps. Slots, rows and drafts must be within those that it began with. */
  update(changes: Partial<EngineOptions["config"]>): void {
    this.config = { ...this.config, ...changes };
    this.engine.update(this.config);
  }

  /** Takes the device away. The engine hears of it, or finds out when a step's result doesn't come. */
  loseDevice({ isReported }: { isReported: boolean }): void {
    this.#isDeviceLost = true;
    if (isReported) this.engine.lose(lostDevice());
  }

  /** Gives an engine that has noticed the loss another device, with nothing in its memory. */
  async restoreDevice(): Promise<void> {
    if (this.#restore === null) return;
    this.#isDeviceLost = false;
    this.#restore(this.#newRunners());
    this.#restore = null;
    await Promise.resolve();
  }

  #losable(runner: Runner, missing: Runner["missing"] = (needs) => runner.missing?.(needs) ?? null): Runner {
    return {
      missing,
      submit: async (plan) => {
        const result = await runner.submit(plan);
        if (this.#isDeviceLost) throw lostDevice();
        return result;
      },
    };
  }

  /** A step, after which everything must still be in order. */
  async step(): Promise<void> {
    await this.engine.step();
    if (this.fatal[0] !== undefined) throw this.fatal[0];
    this.engine.assertConsistent();
  }

  get hasWork(): boolean {
    const stats = this.engine.stats();
    return stats.num_requests_running + stats.num_requests_waiting > 0;
  }

  /** Steps until nobody runs or waits; throws when that takes too long. Returns how many it took. */
  async runToEnd(maxSteps = 1000): Promise<number> {
    for (let steps = 0; steps <= maxSteps; steps++) {
      if (!this.hasWork) return steps;
      await this.step();
    }
    throw new Error(`Still at work after ${maxSteps} steps.`);
  }
}

function lostDevice(): ChorusError {
  return new ChorusError("device_lost", "The device is gone.");
}

/** A runner whose tokens follow from a step's samples. */
export function samplingRunner(sample: (one: Sample, plan: StepPlan) => SampledToken): Runner {
  return {
    submit: async (plan) => {
      const tokens = plan.samples.map((one) => sample(one, plan));
      return { sequences: resultsBySequence(plan, tokens), gpuMs: null };
    },
  };
}

/** A runner that draws given tokens: a script per slot, so per request in the order of admission, then zeros. */
export function scriptedRunner(...scripts: readonly (readonly number[])[]): Runner {
  return samplingRunner((sample) => {
    if (sample.kind === "score") throw new Error("There is no script for scores.");
    return { tokenId: scripts[sample.slot]?.[sample.outputIndex] ?? 0, logprob: -1 };
  });
}
