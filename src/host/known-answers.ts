// Drivers compile kernels wrongly at times. So the first load on an adapter compares a step of the model's own first layers
// with what the CPU computes.

import type { CheckedKernels, LoadedRunner } from "../backends/backend.ts";
import { maxSequenceLength } from "../engine/scheduling/admission.ts";
import { ROW_WORDS, type DrawParams, type Sample, type StepPlan } from "../engine/step-plan.ts";
import type { Runner, StepResult } from "../engine/runner.ts";
import { NO_FILTERS } from "../engine/sampling/sampling-params.ts";
import { NO_RULES } from "../engine/sampling/logit-rules.ts";
import { readF32 } from "../files/tensor.ts";
import type { Graph } from "../models/graph.ts";
import { fewLayers, withFewTokens } from "../models/few-layers.ts";
import type { ModelWeights } from "../models/model-weights.ts";
import type { ResolvedEngineConfig } from "../protocol/config.ts";
import { toChorusError } from "../protocol/errors.ts";
import type { Platform } from "./platforms/platform.ts";
import { WatchedRunner } from "./watched-runner.ts";

/**
 * Rows of each step: part of a prompt, a token, and more rows than a tile of attention has positions. Each product has one
 * kernel so far, for any number of rows; those that are compiled later are compared with it.
 */
const STEP_ROWS = [7, 1, 70] as const;
/** Tokens whose logits are compared after each step; any engine has as many samples, and one for a draw. */
const NUM_COMPARED = 8;
/** Most that logits may differ, as a fraction of their standard deviation. On SwiftShader they differ by 4e-6 at most. */
const TOLERANCE = 1e-3;

const GREEDY: DrawParams = { ...NO_RULES, ...NO_FILTERS, temperature: 0, seed: 0 };

/** Rows of the head that are read at once. */
const BAND_ROWS = 1024;
const RIGHT = "right";

interface CheckContext {
  readonly weights: ModelWeights;
  readonly engine: ResolvedEngineConfig;
  /** Tokens that may be drawn. */
  readonly vocabSize: number;
  readonly platform: Pick<Platform, "tuning" | "runtime" | "reference" | "now">;
}

/**
 * Returns what is wrong with a runner's answers, for people; null if they are right, or if there is nothing to compare them
 * with. The result is remembered per adapter, browser version and kernels.
 */
export async function wrongAnswersOf(
  { kernels, adapterName }: Pick<LoadedRunner, "kernels" | "adapterName">,
  context: CheckContext,
): Promise<string | null> {
  const graph = fewLayers(context.weights.model.graph);
  if (!kernels || graph === null) return null;
  const { tuning, runtime } = context.platform;
  const key = ["known answers", adapterName, runtime, await kernels.id()].join(", ");
  // If the store can't be used (a private window), every load checks again.
  const [known] = (await tuning.load(key).catch(() => undefined)) ?? [];
  if (known !== undefined) return known === RIGHT ? null : known;
  const fault = await compare(kernels, graph, context);
  if (fault === undefined) return null;
  await tuning.save(key, [fault ?? RIGHT]).catch(() => undefined);
  return fault;
}

/** Returns the fault, null for right answers, and undefined if nobody can tell. */
async function compare(
  kernels: CheckedKernels,
  graph: Graph,
  context: CheckContext,
): Promise<string | null | undefined> {
  const { weights, engine, vocabSize } = context;
  const numTokens = Math.min(
    STEP_ROWS.reduce((sum, rows) => sum + rows, 0),
    maxSequenceLength(engine),
  );
  const spread = (i: number) => Math.imul(i + 1, 0x9e3779b1) >>> 0;
  const prompt = Array.from({ length: numTokens }, (_, i) => spread(i) % vocabSize);
  const compared = Array.from({ length: NUM_COMPARED }, (_, i) =>
    Math.floor((i * (vocabSize - 1)) / (NUM_COMPARED - 1)),
  );
  const tokens = [...new Set([...prompt, ...compared])];
  const ids = (wanted: readonly number[]) => wanted.map((token) => tokens.indexOf(token));

  const few = withFewTokens(weights, graph, tokens);
  const cpu = await referenceRunner(context, few, numTokens).catch(() => null);
  if (cpu === null) return undefined;
  try {
    const part = new WatchedRunner(await kernels.part(graph), () => context.platform.now());
    const numTop = (await tellsTop(part)) ? 1 : 0;
    const expected = await answers(cpu, planSteps(ids(prompt), ids(compared), engine, numTop));
    const got = await answers(part, planSteps(prompt, compared, engine, numTop));
    // One token's row of the head that is no number makes every softmax none, and here few tokens are known.
    if (got.some((step) => !scoresOf(step).every(Number.isFinite)) && !(await hasFiniteHead(weights))) return undefined;
    return faultOf(expected, got, numTop > 0);
  } finally {
    cpu.dispose();
  }
}

/** Returns null where there is nothing to compare with. */
async function referenceRunner(
  { engine, platform }: CheckContext,
  weights: ModelWeights,
  numTokens: number,
): Promise<LoadedRunner | null> {
  const backend = await (await platform.reference?.load())?.open();
  const small = { maxNumSeqs: 1, maxNumBatchedTokens: numTokens, maxModelLen: numTokens, speculation: null };
  const numGpuBlocks = Math.ceil(numTokens / engine.blockSize);
  return backend?.load({ weights, engine: { ...engine, ...small, numGpuBlocks, cpuThreads: 1 } }) ?? null;
}

/** Waits for the kernels of known steps. Returns whether they can tell the likeliest token: a driver may refuse that alone. */
async function tellsTop(runner: Runner): Promise<boolean> {
  const needs = { kind: "draw", params: GREEDY, isProcessed: false } as const;
  await runner.missing?.({ ...needs, numTop: 0 });
  try {
    await runner.missing?.({ ...needs, numTop: 1 });
    return true;
  } catch (error) {
    if (toChorusError(error).code === "kernel_refused") return false;
    throw error;
  }
}

/** One sequence in pieces; after each the compared tokens are scored, and one is drawn. */
function planSteps(
  prompt: readonly number[],
  compared: readonly number[],
  { blockSize, maxNumBatchedTokens }: ResolvedEngineConfig,
  numTop: number,
): StepPlan[] {
  const numBlocks = Math.ceil(prompt.length / blockSize);
  const table = { slot: 0, start: 0, values: Array.from({ length: numBlocks }, (_, i) => i) };
  const plans: StepPlan[] = [];
  let start = 0;
  for (const wanted of STEP_ROWS) {
    const count = Math.min(wanted, maxNumBatchedTokens, prompt.length - start);
    if (count === 0) break;
    const row = count - 1;
    const scores = compared.map((tokenId): Sample => ({ kind: "score", row, slot: 0, tokenId, numTop: 0 }));
    const draw: Sample = {
      kind: "draw",
      row,
      slot: 0,
      numTop,
      outputIndex: plans.length,
      promptLength: prompt.length,
      params: GREEDY,
      isProcessed: false,
      isTooEarly: false,
      isNormalised: false,
      mask: null,
    };
    const rows = new Uint32Array(count * ROW_WORDS);
    for (let i = 0; i < count; i++) rows.set([prompt[start + i] ?? 0, start + i, 0, start], i * ROW_WORDS);
    plans.push({
      sequences: [{ slot: 0, start, numRows: count, numScored: scores.length, numDrawn: 1 }],
      rows,
      samples: [...scores, draw],
      blockTables: start === 0 ? [table] : [],
      histories: [],
      rules: [],
      masks: [],
    });
    start += count;
  }
  return plans;
}

async function answers(runner: Runner, plans: readonly StepPlan[]): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const plan of plans) results.push(await runner.submit(plan));
  return results;
}

function faultOf(
  expected: readonly StepResult[],
  got: readonly StepResult[],
  tellTop: boolean,
): string | null | undefined {
  for (const [i, step] of expected.entries()) {
    const right = scoresOf(step);
    const given = scoresOf(got[i]);
    const draw = got[i]?.sequences[0]?.drawn[0];
    const scale = deviation(right);
    if (!(scale > 0 && scale < Infinity)) return undefined; // the model's own weights may be no numbers
    // Softmaxes over other tokens differ by a constant.
    const shift = mean(right) - mean(given);
    const errors = right.map((value, token) => Math.abs(value - shift - (given[token] ?? NaN)) / scale);
    if (errors.some((error) => !(error <= TOLERANCE))) {
      return `logits of a known step are off by ${Math.max(...errors).toPrecision(2)} standard deviations`;
    }
    const isFirst = !tellTop || draw?.tokenId === draw?.top?.[0]?.tokenId;
    if (!isFirst || !given.every((one) => one <= (draw?.logprob ?? NaN)))
      return "a token was drawn that is not the likeliest";
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
