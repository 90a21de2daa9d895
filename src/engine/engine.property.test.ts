// Random traffic through tiny pools. Whatever happens to a request on its way, it must come out as it does alone.
import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { EngineHarness, samplingParams, type Collected } from "../../tests/fakes/engine-harness.ts";
import { ChorusError } from "../protocol/errors.ts";
import { checkAdmission, checkBeams } from "./scheduling/admission.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { Runner } from "./runner.ts";
import { maxSpareSamples } from "./scheduling/scheduler-config.ts";
import type { BeamSearchParams, SamplingParams } from "./sampling/sampling-params.ts";

/** Pieces that make stop strings and characters cross token borders; the last token is end-of-text. */
const PIECES = ["a", "b", "ab", " ", "EN", "D", "\uFEFF", "é"].map((text) => new TextEncoder().encode(text));
const HALVES = [[0xf0, 0x9f], [0x98, 0x80], [0xff], [0xc3]].map((bytes) => Uint8Array.from(bytes));
const VOCABULARY = [...PIECES, ...HALVES, ...PIECES.slice(0, 3), new Uint8Array()];
const EOS = VOCABULARY.length - 1;

interface Traffic {
  readonly config: EngineOptions["config"];
  /** Changes of the config, before the step of that number. */
  readonly changes: readonly { readonly atStep: number; readonly to: Partial<EngineOptions["config"]> }[];
  /** Losses of the device, before the step of that number or while it runs. Told: the engine needn't find out itself. */
  readonly losses: readonly {
    readonly atStep: number;
    readonly inFlight: boolean;
    readonly isReported: boolean;
    readonly stepsWithout: number;
  }[];
  readonly kernelAtStep: number;
  readonly requests: readonly {
    readonly arrivesAtStep: number;
    readonly prompt: readonly number[];
    readonly n: number;
    readonly beamSearch: BeamSearchParams | null;
    readonly priority: number;
    readonly cacheSalt: string | null;
    readonly params: SamplingParams;
    /** Steps after its arrival; in flight: while that step runs. */
    readonly abort: { readonly afterSteps: number; readonly inFlight: boolean } | null;
  }[];
}

const token = fc.nat({ max: EOS });

const ngramDrafts = fc.record({
  method: fc.constant("ngram" as const),
  numTokens: fc.integer({ min: 1, max: 4 }),
  minMatch: fc.integer({ min: 1, max: 2 }),
});

/** What the layers keep of a sequence: keys and values, which windows let go, or states. */
const layout = fc.oneof(
  fc.record({ slidingWindow: fc.constantFrom(null, null, 1, 3, 7) }),
  fc.record({ numStateSlots: fc.constantFrom(2, 3, 5, 9) }),
);

const traffic: fc.Arbitrary<Traffic> = fc.record({
  config: fc
    .tuple(
      layout,
      fc.record({
        maxNumSeqs: fc.integer({ min: 2, max: 6 }),
        maxNumBatchedTokens: fc.integer({ min: 1, max: 12 }),
        maxModelLen: fc.integer({ min: 16, max: 32 }),
        blockSize: fc.integer({ min: 1, max: 4 }),
        numGpuBlocks: fc.integer({ min: 6, max: 14 }),
        runAhead: fc.nat({ max: 4 }),
        enablePrefixCaching: fc.boolean(),
        speculation: fc.oneof(
          fc.constant(null),
          ngramDrafts,
          fc.record({ method: fc.constant("draft_model" as const), numTokens: fc.integer({ min: 1, max: 4 }) }),
        ),
        schedulingPolicy: fc.constantFrom("fcfs", "priority", "shortest-remaining", "balanced"),
        batchingMode: fc.constantFrom("continuous", "continuous", "static", "sequential"),
        batchWindowMs: fc.nat({ max: 20 }),
        longPrefillTokenThreshold: fc.nat({ max: 4 }),
        maxQueueSize: fc.constant(Infinity),
      }),
    )
    .map(([own, config]) => ({ ...config, ...own })),
  changes: fc.array(
    fc.record({
      atStep: fc.nat({ max: 30 }),
      to: fc.record(
        {
          maxNumSeqs: fc.integer({ min: 1, max: 6 }),
          maxNumBatchedTokens: fc.integer({ min: 1, max: 12 }),
          runAhead: fc.nat({ max: 4 }),
          enablePrefixCaching: fc.boolean(),
          speculation: fc.oneof(fc.constant(null), ngramDrafts),
          schedulingPolicy: fc.constantFrom("fcfs", "priority", "shortest-remaining", "balanced"),
          batchingMode: fc.constantFrom("continuous", "static", "sequential"),
          batchWindowMs: fc.nat({ max: 20 }),
          longPrefillTokenThreshold: fc.nat({ max: 4 }),
        },
        { requiredKeys: [] },
      ),
    }),
    { maxLength: 4 },
  ),
  losses: fc.array(
    fc.record({
      atStep: fc.nat({ max: 40 }),
      inFlight: fc.boolean(),
      isReported: fc.boolean(),
      stepsWithout: fc.nat({ max: 3 }),
    }),
    { maxLength: 3 },
  ),
  /** Before this step no sequence can start whose draws are not greedy, nor a beam. */
  kernelAtStep: fc.nat({ max: 20 }),
  requests: fc.array(
    fc.record({
      arrivesAtStep: fc.nat({ max: 8 }),
      prompt: fc.array(token, { maxLength: 10 }),
      n: fc.integer({ min: 1, max: 3 }),
      beamSearch: fc.oneof(
        { weight: 2, arbitrary: fc.constant(null) },
        {
          weight: 1,
          arbitrary: fc.record({
            numBeams: fc.integer({ min: 1, max: 4 }),
            lengthPenalty: fc.constantFrom(-1, 0, 1, 2),
            earlyStopping: fc.constantFrom<BeamSearchParams["earlyStopping"][]>(true, false, "never"),
          }),
        },
      ),
      priority: fc.integer({ min: -2, max: 2 }),
      cacheSalt: fc.constantFrom(null, null, "other"),
      params: fc
        .record({
          maxTokens: fc.integer({ min: 1, max: 16 }),
          temperature: fc.constantFrom(0, 1),
          seed: fc.nat({ max: 3 }),
          stop: fc.subarray(["END", "aba", "😀", "\uFFFD"], { maxLength: 2 }),
          stopTokenIds: fc.array(token, { maxLength: 1 }),
          includeStopStrInOutput: fc.boolean(),
          ignoreEos: fc.boolean(),
          promptLogprobs: fc.constantFrom(null, null, 0, 2),
        })
        .map(samplingParams),
      abort: fc.option(fc.record({ afterSteps: fc.nat({ max: 20 }), inFlight: fc.boolean() }), { freq: 3 }),
    }),
    { minLength: 2, maxLength: 8 },
  ),
});

type Request = Traffic["requests"][number];
type Config = Traffic["config"];

/** For the most beams of the longest sequence. Each step looks at every block, whether all is in order. */
const ENOUGH_BLOCKS = 64;

/** A choice's outcome with the whole engine to itself. */
async function alone(
  request: Request,
  index: number,
  { maxModelLen, slidingWindow = null }: Traffic["config"],
): Promise<Collected> {
  const config = { maxModelLen, slidingWindow, numGpuBlocks: ENOUGH_BLOCKS };
  const harness = new EngineHarness({ config, vocabulary: VOCABULARY });
  const params = { ...request.params, seed: request.params.seed + index };
  const { beamSearch, n } = request;
  harness.add("alone", request.prompt, beamSearch ? { params: request.params, beamSearch, n } : { params });
  await harness.runToEnd();
  return harness.choice("alone", beamSearch ? index : 0);
}

function isAdmissible(request: Request, config: Traffic["config"]): boolean {
  try {
    checkAdmission(request.prompt.length, request.params.maxTokens, "prompt", config);
    checkBeams(request, new Set([EOS]), config);
    return true;
  } catch {
    return false;
  }
}

/** Returns the config after each change. What an engine can't have that was loaded with the first one is left out. */
function configsOf({ config, changes }: Traffic): readonly { readonly atStep: number; readonly config: Config }[] {
  let now = config;
  return changes
    .toSorted((a, b) => a.atStep - b.atStep)
    .map(({ atStep, to }) => {
      const { speculation = now.speculation, ...others } = to;
      const next = { ...now, ...others };
      const sizes = {
        maxNumSeqs: Math.min(next.maxNumSeqs, config.maxNumSeqs),
        maxNumBatchedTokens: Math.min(next.maxNumBatchedTokens, config.maxNumBatchedTokens),
      };
      const drafting = { ...next, ...sizes, speculation };
      const isSameDrafter = (config.speculation?.method === "draft_model") === (speculation?.method === "draft_model");
      const fits = isSameDrafter && maxSpareSamples(drafting) <= maxSpareSamples(config);
      now = fits ? drafting : { ...next, ...sizes };
      return { atStep, config: now };
    });
}

/** Plays the traffic, step by step. Returns what came of it, and which requests were not refused. */
async function play(
  all: Traffic,
): Promise<{ readonly harness: EngineHarness; readonly admitted: ReadonlySet<Request> }> {
  const { config, losses, requests, kernelAtStep } = all;
  const configs = configsOf(all);
  const admitted = new Set<Request>();
  let isCompiled = false;
  let endCompilation = (): void => {};
  const compiling = new Promise<void>((resolve) => (endCompilation = resolve));
  const missing: Runner["missing"] = ({ params, isProcessed }) =>
    isCompiled || (params.temperature === 0 && !isProcessed) ? null : compiling;
  const harness = new EngineHarness({ config, missing, vocabulary: VOCABULARY });
  // The oldest sequence makes progress in each step, so all together take no more than each by itself: its rows in
  // chunks of the budget (all again after a preemption), and a step a token. Those behind it in rank can't take more.
  const maxSteps = requests.reduce((sum, { prompt, params, n: choices, beamSearch }) => {
    const n = beamSearch?.numBeams ?? choices;
    const length = prompt.length + params.maxTokens;
    const rowsPerStep = Math.min(
      ...[config, ...configs.map((change) => change.config)].flatMap((one) => [
        one.maxNumBatchedTokens,
        one.longPrefillTokenThreshold || Infinity,
        params.promptLogprobs === null ? Infinity : maxSpareSamples(one),
      ]),
    );
    return sum + n * (Math.ceil(length / rowsPerStep) + length);
  }, 60);

  for (let step = 0; step < 40 || harness.hasWork; step++) {
    // A loss makes everything be computed again, and so may a change.
    if (step >= (1 + losses.length + configs.length) * 6 * maxSteps) throw new Error(`At work after ${step} steps.`);
    isCompiled = step >= kernelAtStep;
    if (isCompiled) endCompilation();
    for (const change of configs) if (change.atStep === step) harness.update(change.config);
    for (const [id, request] of requests.entries()) {
      const add = () => harness.add(`${id}`, request.prompt, request);
      if (request.arrivesAtStep !== step) continue;
      if (!isAdmissible(request, harness.config)) {
        expect(add).toThrow(ChorusError);
        continue;
      }
      add();
      admitted.add(request);
    }
    const abort = (inFlight: boolean) => {
      for (const [id, request] of requests.entries()) {
        const isDue = request.abort?.inFlight === inFlight && request.arrivesAtStep + request.abort.afterSteps === step;
        if (isDue) harness.engine.abort(`${id}`);
      }
    };
    const lose = (inFlight: boolean) => {
      for (const loss of losses) if (loss.atStep === step && loss.inFlight === inFlight) harness.loseDevice(loss);
    };
    abort(false);
    lose(false);
    const running = harness.step();
    abort(true);
    lose(true);
    await running;
    if (losses.every(({ atStep, stepsWithout }) => step < atStep || step >= atStep + stepsWithout)) {
      await harness.restoreDevice();
    }
  }
  return { harness, admitted };
}

/** What was streamed is the text of the tokens. */
function expectItsText({ text, tokenIds, finishReason, stopReason }: Collected, params: SamplingParams): void {
  const endsByToken = finishReason === "stop" && typeof stopReason !== "string";
  const spoken = endsByToken ? tokenIds.slice(0, -1) : tokenIds;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const whole = decoder.decode(Uint8Array.from(spoken.flatMap((id) => [...VOCABULARY[id]!])), { stream: true });
  if (typeof stopReason === "string") {
    const at = whole.indexOf(stopReason);
    expect(text).toBe(whole.slice(0, params.includeStopStrInOutput ? at + stopReason.length : at));
  } else {
    // An aborted text ends with its last whole character.
    expect(text).toBe(finishReason === "abort" ? whole : whole + decoder.decode());
    for (const stop of params.stop) expect(whole).not.toContain(stop);
  }
}

describe("an engine under random traffic", () => {
  it("gives each request what it gets alone, streams its text, ends it once, and keeps nothing", async () => {
    const seen = {
      preemptions: 0,
      stop: 0,
      length: 0,
      abort: 0,
      stopStrings: 0,
      refused: 0,
      shared: 0,
      cached: 0,
      ahead: 0,
      searched: 0,
      scored: 0,
      losses: 0,
      changes: 0,
      late: 0,
    };

    await fc.assert(
      fc.asyncProperty(traffic, async (all) => {
        const { config, requests } = all;
        const { harness, admitted } = await play(all);

        for (const [id, request] of requests.entries()) {
          const reports = harness.requests.filter((report) => report.requestId === `${id}`);
          if (!admitted.has(request)) {
            expect(reports).toEqual([]);
            seen.refused += 1;
            continue;
          }
          for (let index = 0; index < request.n; index++) {
            const choice = harness.choice(`${id}`, index);
            const expected = await alone(request, index, config);
            if (choice.finishReason === "abort") {
              // Or the rules left it nothing: then it is the same alone.
              if (choice.stopReason === "no_candidates") expect(choice).toEqual(expected);
              else expect(request.abort).not.toBeNull();
              expect(choice.tokenIds).toEqual(expected.tokenIds.slice(0, choice.tokenIds.length));
            } else {
              expect(choice).toEqual(expected);
            }
            expect(reports.filter((report) => report.index === index && report.status === "finished")).toHaveLength(1);
            if (choice.score !== null) seen.searched += 1;
            if (request.params.temperature > 0 && request.arrivesAtStep < all.kernelAtStep) seen.late += 1;
            if (choice.promptScores.length > 0) {
              seen.scored += 1;
              expect(choice.promptScores.map(({ tokenId }) => tokenId)).toEqual(request.prompt.slice(1));
            }
            if (typeof choice.stopReason === "string") seen.stopStrings += 1;
            expectItsText(choice, request.params);
          }
        }

        const stats = harness.engine.stats();
        expect(stats.num_gpu_blocks_free).toBe(config.numGpuBlocks);
        const generated = [...harness.choices.values()].reduce((sum, choice) => sum + choice.tokenIds.length, 0);
        expect(stats.generation_tokens_total).toBe(generated);
        seen.preemptions += stats.num_preemptions_total;
        seen.stop += stats.request_success_total.stop;
        seen.length += stats.request_success_total.length;
        seen.abort += stats.request_success_total.abort;
        seen.losses += stats.device_losses_total;
        seen.cached += stats.prefix_cache_hits;
        seen.changes += all.changes.filter(({ atStep }) => atStep < harness.steps.length).length;
        seen.ahead += config.runAhead > 0 ? stats.engine_steps_total : 0;
        seen.shared += harness.steps.filter((step) => step.entries.length > 1).length;
      }),
      { numRuns: 250 },
    );

    // The traffic was worth it.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
  });
});
