// Runs of a runner by hand: sequences are placed here, where an engine would.

import { expect } from "vitest";

import { resolveEngineConfig } from "../../src/api/engine-config.ts";
import { placeSequence } from "../fakes/place-sequence.ts";
import type { LogitRules } from "../../src/engine/sampling/logit-rules.ts";
import { Sequence, type ScheduledSequence } from "../../src/engine/sequence.ts";
import { NO_STATE } from "../../src/engine/step-plan.ts";
import type { Runner } from "../../src/engine/runner.ts";
import { StepPlanner } from "../../src/engine/step-planner.ts";
import type { OpenedDevice } from "../../src/backends/gpu/device.ts";
import { GpuRunner } from "../../src/backends/gpu/gpu-runner.ts";
import { strideOf } from "../../src/backends/gpu/padding.ts";
import type { ModelWeights } from "../../src/models/model-weights.ts";
import type { EngineConfig } from "../../src/protocol/config.ts";
import { GREEDY } from "../models/golden.ts";
import { readBuffer } from "./gpu.ts";

const numGpuBlocks = 64;

/** Weights and cache are in f32 unless `overrides` says otherwise. Every kernel is compiled, or those of a first step. */
export async function createRunner(
  opened: OpenedDevice,
  weights: ModelWeights,
  overrides: EngineConfig = {},
  { isComplete = true }: { isComplete?: boolean } = {},
): Promise<GpuRunner> {
  const config = { maxNumSeqs: 4, maxNumBatchedTokens: 256, numGpuBlocks, dtype: "f32", kvCacheDtype: "f32" } as const;
  const engine = resolveEngineConfig({ ...config, ...overrides }, weights.model.shape);
  const runner = await GpuRunner.create({ opened, weights, engine });
  if (isComplete) expect(await runner.complete()).toEqual([]);
  return runner;
}

/** A sequence that holds a slot and blocks enough for its whole length, scattered over the pool. */
export function placedSequence(prompt: readonly number[], slot: number, length: number): Sequence {
  const sequence = new Sequence({ requestId: `s${slot}`, index: 0, params: GREEDY, prompt, arrivalMs: 0 });
  const blocks = Array.from({ length: Math.ceil(length / 16) }, (_, i) => numGpuBlocks - 1 - 4 * i - slot);
  return placeSequence(sequence, slot, blocks);
}

/** A sequence keeps its state, where a model has such, in the slot of its own number. */
export function withState(scheduled: ScheduledSequence): ScheduledSequence {
  const to = scheduled.sequence.slot ?? 0;
  return { ...scheduled, state: { from: scheduled.start === 0 ? NO_STATE : to, to, keeps: [] } };
}

export async function greedyTokens(runner: Runner, prompt: readonly number[], numTokens: number): Promise<number[]> {
  const sequence = placedSequence(prompt, 1, prompt.length + numTokens);
  const planner = new StepPlanner();
  for (let i = 0; i < numTokens; i++) {
    const scheduled = withState(sequence.giveRows(sequence.numPendingTokens, 0, 0));
    const { sequences } = await runner.submit(planner.plan([scheduled]));
    sequence.append(sequences[0]?.drawn[0]?.tokenId ?? -1);
  }
  return sequence.tokens.slice(prompt.length);
}

interface TogetherOptions {
  readonly numTokens: number;
  readonly numGpuBlocks: number;
  readonly vocabSize: number;
  /** Each prompt's. [none] */
  readonly rules?: readonly Partial<LogitRules>[];
}

/** Draws for several prompts in shared steps. Returns the logits after each prompt, and the tokens that follow it. */
export async function greedyTogether(
  { device }: OpenedDevice,
  runner: GpuRunner,
  prompts: readonly (readonly number[])[],
  { numTokens, numGpuBlocks: numBlocks, vocabSize, rules = [] }: TogetherOptions,
): Promise<{ logits: Float32Array[]; tokens: number[][] }> {
  const sequences = prompts.map((prompt, slot) => {
    const params = { ...GREEDY, ...rules[slot] };
    const sequence = new Sequence({ requestId: `s${slot}`, index: 0, params, prompt, arrivalMs: 0 });
    const blocks = Array.from(
      { length: Math.ceil((prompt.length + numTokens) / 16) },
      (_, i) => numBlocks - 1 - prompts.length * i - slot,
    );
    return placeSequence(sequence, slot, blocks);
  });
  const planner = new StepPlanner();
  let logits: Float32Array[] = [];
  for (let step = 0; step < numTokens; step++) {
    const entries = sequences.map((sequence) => withState(sequence.giveRows(sequence.numPendingTokens, 0, 0)));
    const results = (await runner.submit(planner.plan(entries))).sequences;
    if (step === 0) logits = await logitRows(device, runner, { rows: prompts.length, vocabSize });
    for (const [i, sequence] of sequences.entries()) sequence.append(results[i]?.drawn[0]?.tokenId ?? -1);
  }
  return { logits, tokens: sequences.map(({ tokens }, i) => tokens.slice(prompts[i]?.length)) };
}

async function logitRows(
  device: GPUDevice,
  runner: GpuRunner,
  { rows, vocabSize }: { rows: number; vocabSize: number },
): Promise<Float32Array[]> {
  const logits = new Float32Array(await readBuffer(device, runner.activations.logits));
  const stride = strideOf(vocabSize);
  return Array.from({ length: rows }, (_, i) => logits.subarray(i * stride, i * stride + vocabSize));
}

/** Logits [vocabSize] after the prompt. */
export async function lastLogits(
  { device }: OpenedDevice,
  runner: GpuRunner,
  prompt: readonly number[],
  vocabSize: number,
): Promise<Float32Array> {
  const sequence = placedSequence(prompt, 0, prompt.length);
  const entry = { sequence, start: 0, count: prompt.length, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
  await runner.submit(new StepPlanner().plan([entry]));
  return new Float32Array(await readBuffer(device, runner.activations.logits)).subarray(0, vocabSize);
}
