// Drivers compile kernels wrongly at times. So the first load on an adapter compares a step of the model's own first layers
// with what the CPU computes.

import type { CheckedKernels, LoadedRunner } from "../../backends/backend.ts";
import { maxSequenceLength } from "../../engine/scheduling/admission.ts";
import {
  NO_STATE,
  ROW_WORDS,
  type DrawParams,
  type PlannedState,
  type Sample,
  type StepPlan,
} from "../../engine/step-plan.ts";
import type { Runner, SampledToken, StepResult } from "../../engine/runner.ts";
import { gumbel } from "../../engine/sampling/gumbel.ts";
import { readF32 } from "../../files/tensor.ts";
import { withFrequenciesFor, type Graph } from "../../models/graph.ts";
import { fewLayers, withFewTokens } from "../../models/few-layers.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import type { Platform } from "../platforms/platform.ts";
import { WatchedRunner } from "../watched-runner.ts";
import { GREEDY, PLAIN_DRAW } from "./known-draws.ts";

/**
 * Two blocks of a prompt, a token that looks back further than a tile of attention has positions, and a piece of a prompt that
 * goes on from there: it finds the token in the second tile, and fills no tile of a product. Each product has one kernel so
 * far, for any number of rows; those that are compiled later are compared with it.
 */
const STEPS = [
  { start: 0, numRows: 32 },
  { start: 64, numRows: 1 },
  { start: 65, numRows: 5 },
] as const;
/** Tokens whose logits are compared after each step. Any engine has as many samples, and one for a draw. */
const NUM_COMPARED = 8;
/** Most that logits may differ, as a fraction of their standard deviation. On SwiftShader they differ by 4e-6 at most. */
const TOLERANCE = 1e-3;
/**
 * The same where activations are integers: a value that rounds the other way, since its last bits differ, differs by a 127th. On
 * the CPU the embedded model's log-probabilities differ by up to 0.08 if cpuMath does.
 */
const INTEGER_TOLERANCE = 0.05;

/** Logits hardly count. */
const BY_CHANCE: DrawParams = { ...GREEDY, temperature: 1e6 };
/** Only logits count. */
const BY_LOGITS: DrawParams = { ...GREEDY, temperature: 1e-3 };
/** Most by which a token that chance draws may be less lucky than the luckiest: WGSL's log is inexact near 1. */
const LUCK_TOLERANCE = 0.5;

/** Rows of the head that are read at once. */
const BAND_ROWS = 1024;
const RIGHT = "right";
const NOT_LIKELIEST = "a token was drawn that is not the likeliest";
const NOT_LUCKIEST = "a token was drawn that is not the luckiest";

interface CheckContext {
  readonly weights: ModelWeights;
  readonly engine: ResolvedEngineConfig;
  readonly vocabSize: number;
  readonly platform: Pick<Platform, "tuning" | "runtime" | "reference" | "now">;
}

interface Questions {
  readonly steps: readonly CheckedStep[];
  readonly prompt: readonly number[];
  readonly compared: readonly number[];
}

/** The right answers of a model, and the known results of adapters. */
export class KnownAnswers {
  readonly #context: CheckContext;
  readonly #graph: Graph | null;
  readonly #questions: Questions;
  /** Null where nobody can tell. */
  #expected: Promise<readonly StepResult[] | null> | undefined;

  constructor(context: CheckContext) {
    this.#context = context;
    this.#graph = fewLayers(context.weights.model.graph);
    this.#questions = questionsWithin(context);
  }

  /** Computes what is right while kernels compile, where no kernels were checked yet: then it will be asked for. */
  async prepare(adapterName: string): Promise<void> {
    const { tuning } = this.#context.platform;
    const known = await tuning.load(this.#key(adapterName)).catch(() => undefined);
    if (known !== undefined) return;
    // A check that fails now, while weights take memory, may succeed later.
    if ((await this.#expectedAnswers()) === null) this.#expected = undefined;
  }

  /**
   * Returns what is wrong with a runner's answers, for people; null if they are right, or if there is nothing to compare them
   * with. The result is remembered per adapter, browser version and kernels.
   */
  async wrongAnswersOf({
    kernels,
    adapterName,
  }: Pick<LoadedRunner, "kernels" | "adapterName">): Promise<string | null> {
    if (!kernels || this.#graph === null) return null;
    const { tuning } = this.#context.platform;
    const key = this.#key(adapterName, await kernels.id());
    // If the store can't be used (a private window), every load checks again.
    const [known] = (await tuning.load(key).catch(() => undefined)) ?? [];
    if (known !== undefined) return known === RIGHT ? null : known;
    const fault = await this.#compare(kernels, this.#graph);
    if (fault === undefined) return null;
    const results = [tuning.save(key, [fault ?? RIGHT]), tuning.save(this.#key(adapterName), ["checked"])];
    await Promise.all(results).catch(() => undefined);
    return fault;
  }

  /** Returns the fault, null for right answers, and undefined if nobody can tell. */
  async #compare(kernels: CheckedKernels, graph: Graph): Promise<string | null | undefined> {
    const { engine, weights, platform } = this.#context;
    if (!platform.reference) return undefined;
    const { steps, prompt } = this.#questions;
    const opening = openPart(kernels, graph, platform);
    opening.catch(() => undefined); // handled below, if there is anything to compare with
    const expected = await this.#expectedAnswers();
    if (expected === null) return undefined;
    const part = await opening;
    const got = await answers(part, planSteps(this.#questions, engine));
    // One token's row of the head that is no number makes every softmax none, and here few tokens are known.
    if (got.some((step) => !scoresOf(step).every(Number.isFinite)) && !(await hasFiniteHead(weights))) return undefined;
    const fault = faultOf(expected, got, engine.activationDtype === "int8" ? INTEGER_TOLERANCE : TOLERANCE);
    if (fault !== null) return fault;
    if (!isLuckiest(drawOf(got[0])?.tokenId ?? NaN, this.#context.vocabSize)) return NOT_LUCKIEST;
    const drawn = drawOf(got.at(-1))?.tokenId ?? NaN;
    // Keys and values of the steps before are there still; states and rows of convolutions have gone on.
    const { states, convs } = weights.model.shape;
    const repeated = (states || convs ? steps : steps.slice(-1)).map((step) => ({ ...step, params: BY_LOGITS }));
    const again = (await answers(part, planSteps({ steps: repeated, prompt, compared: [drawn] }, engine))).at(-1);
    const [best] = again?.sequences[0]?.scored ?? [];
    const near = drawOf(again);
    if (best?.rank !== 1 || near === undefined) return NOT_LIKELIEST;
    // Of two that are equally likely, chance draws either.
    return near.tokenId === drawn || near.logprob > best.logprob - LUCK_TOLERANCE ? null : NOT_LIKELIEST;
  }

  #expectedAnswers(): Promise<readonly StepResult[] | null> {
    this.#expected ??= this.#computeExpected().catch(() => null);
    return this.#expected;
  }

  async #computeExpected(): Promise<readonly StepResult[] | null> {
    if (this.#graph === null) return null;
    const { weights, engine } = this.#context;
    const { steps, prompt, compared } = this.#questions;
    const tokens = [...new Set([...prompt, ...compared])];
    const ids = (requested: readonly number[]) => requested.map((token) => tokens.indexOf(token));
    const few = withFewTokens(weights, withFrequenciesFor(this.#graph, engine.maxModelLen), tokens);
    const backend = await (await this.#context.platform.reference?.load())?.open();
    if (!backend) return null;
    try {
      const cpu = await backend.load({ weights: few, engine: referenceSizes(engine, steps) });
      try {
        return await answers(cpu, planSteps({ steps, prompt: ids(prompt), compared: ids(compared) }, engine));
      } finally {
        cpu.dispose();
      }
    } finally {
      backend.close();
    }
  }

  /** Without kernels: that any were checked. */
  #key(adapterName: string, kernelsId = ""): string {
    const { runtime } = this.#context.platform;
    return ["known answers", JSON.stringify(STEPS), adapterName, runtime, kernelsId].join(", ");
  }
}

function questionsWithin({ engine, vocabSize }: CheckContext): Questions {
  const steps = stepsWithin(engine);
  const length = Math.max(...steps.map(({ start, numRows }) => start + numRows));
  const spread = (i: number) => Math.imul(i + 1, 0x9e3779b1) >>> 0;
  return {
    steps,
    prompt: Array.from({ length }, (_, i) => spread(i) % vocabSize),
    compared: Array.from({ length: NUM_COMPARED }, (_, i) => Math.floor((i * (vocabSize - 1)) / (NUM_COMPARED - 1))),
  };
}

interface CheckedStep {
  readonly start: number;
  readonly numRows: number;
  /** How the token after it is drawn. */
  readonly params: DrawParams;
}

/**
 * The steps as an engine can compute them whose context or budget is smaller. There a step may read slots that nothing wrote:
 * a new cache is all zeros.
 */
function stepsWithin(engine: ResolvedEngineConfig): CheckedStep[] {
  const length = maxSequenceLength(engine);
  return STEPS.map(({ start, numRows }, i) => {
    const rows = Math.min(numRows, engine.maxNumBatchedTokens, length);
    return { start: Math.min(start, length - rows), numRows: rows, params: i === 0 ? BY_CHANCE : GREEDY };
  });
}

/** Returns the config of what computes these steps alone, on one thread. */
function referenceSizes(engine: ResolvedEngineConfig, steps: readonly CheckedStep[]): ResolvedEngineConfig {
  const maxNumBatchedTokens = Math.max(...steps.map(({ numRows }) => numRows));
  const maxModelLen = Math.max(...steps.map(({ start, numRows }) => start + numRows));
  const numGpuBlocks = Math.ceil(maxModelLen / engine.blockSize);
  const small = { maxNumSeqs: 1, maxNumBatchedTokens, maxModelLen, numGpuBlocks, speculation: null, cpuThreads: 1 };
  return { ...engine, ...small };
}

/** Opens the checked layers, and waits for the kernels of known steps. */
async function openPart(kernels: CheckedKernels, graph: Graph, platform: Pick<Platform, "now">): Promise<Runner> {
  const part = new WatchedRunner(await kernels.part(graph), () => platform.now());
  await part.missing?.({ kind: "draw", params: GREEDY, isProcessed: false, numTop: 0 });
  return part;
}

/** Where the sequence keeps its state, if the model has such. */
const NEXT: PlannedState = { from: 0, to: 0, keeps: [] };
const FRESH: PlannedState = { ...NEXT, from: NO_STATE };

/** One sequence in pieces; after each the compared tokens are scored, and one is drawn, after the first by chance. */
function planSteps(
  { steps, prompt, compared }: Questions,
  { blockSize }: Pick<ResolvedEngineConfig, "blockSize">,
): StepPlan[] {
  const numBlocks = Math.ceil(prompt.length / blockSize);
  // The first two blocks stand for those between by turns, so that these need not be computed. The last one is another: a
  // kernel may write a row's keys and values before or after it reads the positions before the row.
  const values = Array.from({ length: numBlocks }, (_, i) => (i === numBlocks - 1 ? Math.min(2, i) : i % 2));
  return steps.map(({ start, numRows, params }, outputIndex): StepPlan => {
    const row = numRows - 1;
    const scores = compared.map((tokenId): Sample => ({ kind: "score", row, slot: 0, tokenId, numTop: 0 }));
    const draw: Sample = { ...PLAIN_DRAW, row, outputIndex, promptLength: prompt.length, params };
    const rows = new Uint32Array(numRows * ROW_WORDS);
    for (let i = 0; i < numRows; i++) rows.set([prompt[start + i] ?? 0, start + i, 0, start], i * ROW_WORDS);
    return {
      sequences: [
        { slot: 0, start, numRows, numScored: scores.length, numDrawn: 1, state: outputIndex === 0 ? FRESH : NEXT },
      ],
      rows,
      samples: [...scores, draw],
      blockTables: outputIndex === 0 ? [{ slot: 0, start: 0, values }] : [],
      histories: [],
      rules: [],
      masks: [],
    };
  });
}

/** The steps don't wait for each other's results: there are fewer than a runner takes ahead. */
function answers(runner: Runner, plans: readonly StepPlan[]): Promise<StepResult[]> {
  return Promise.all(plans.map((plan) => runner.submit(plan)));
}

function faultOf(
  expected: readonly StepResult[],
  got: readonly StepResult[],
  tolerance: number,
): string | null | undefined {
  for (const [i, step] of expected.entries()) {
    const right = scoresOf(step);
    const given = scoresOf(got[i]);
    const draw = drawOf(got[i]);
    const scale = deviation(right);
    if (!(scale > 0 && scale < Infinity)) return undefined; // the model's own weights may be no numbers
    // Softmaxes over other tokens differ by a constant.
    const shift = mean(right) - mean(given);
    const errors = right.map((value, token) => Math.abs(value - shift - (given[token] ?? NaN)) / scale);
    if (errors.some((error) => !(error <= tolerance))) {
      return `logits of a known step are off by ${Math.max(...errors).toPrecision(2)} standard deviations`;
    }
    if (i > 0 && !given.every((one) => one <= (draw?.logprob ?? NaN))) return NOT_LIKELIEST;
  }
  return null;
}

async function hasFiniteHead(weights: ModelWeights): Promise<boolean> {
  const head = weights.model.graph.operations.find(({ type }) => type === "head");
  if (head?.type !== "head") return true;
  const table = weights.tensor(head.table);
  for (let row = 0; row < table.rows; row += BAND_ROWS) {
    const rows = Math.min(BAND_ROWS, table.rows - row);
    const values = await readF32({ ...table, rows, readRows: () => table.readRows(row, row + rows) });
    if (!values.every(Number.isFinite)) return false;
  }
  return true;
}

/** Returns whether no token of the first step's draw has much better random numbers. */
function isLuckiest(tokenId: number, vocabSize: number): boolean {
  const luckOf = (token: number) => gumbel([BY_CHANCE.seed, 0], [0, token]);
  const least = luckOf(tokenId) + LUCK_TOLERANCE;
  for (let token = 0; token < vocabSize; token++) if (!(luckOf(token) <= least)) return false;
  return true;
}

function drawOf(step: StepResult | undefined): SampledToken | undefined {
  return step?.sequences[0]?.drawn[0];
}

function scoresOf(step: StepResult | undefined): number[] {
  return step?.sequences[0]?.scored.map(({ logprob }) => logprob) ?? [];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function deviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
}
