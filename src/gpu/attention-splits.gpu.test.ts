// Long contexts, on the way they go on GPUs and where there are no subgroups.

import { expect, it } from "vitest";
import { Sequence } from "../engine/sequence.ts";
import type { ScheduledSequence } from "../engine/runner.ts";
import type { Gpt2Weights } from "../model/gpt2-weights.ts";
import type { Tensor } from "../model/tensor.ts";
import { createRunner } from "../testing/gpt2-runs.ts";
import { GREEDY, loadGolden } from "../testing/golden.ts";
import { differingWords, openTestDevice, readBuffer } from "../testing/gpu.ts";
import type { Gpt2Runner } from "./gpt2-runner.ts";

const opened = await openTestDevice();
const LENGTH = 560;
const BLOCKS = LENGTH / 16;

it("gives a token the same bits when its context is read in splits as when its whole prompt is computed", async () => {
  const { weights } = await loadGolden("gpt2-tiny");
  const config = { maxNumBatchedTokens: LENGTH, numGpuBlocks: 3 * BLOCKS };
  const runner = await createRunner({ ...opened, hasSubgroups: false }, withPositions(weights, LENGTH), config);
  const { vocabSize } = weights.config;
  const tokens = Array.from({ length: LENGTH }, (_, i) => (37 * i + 11) % vocabSize);
  const usesSplits = async () => {
    const parts = new Uint32Array(await readBuffer(opened.device, runner.activations.attentionParts));
    return parts.some((word) => word !== 0);
  };

  const whole = await logitsOf(runner, [rowsOf(sequenceAt(0, tokens), 0, LENGTH)], vocabSize);
  expect(await usesSplits()).toBe(false);

  const [again, short] = [sequenceAt(1, tokens), sequenceAt(2, tokens.slice(0, 5))];
  await logitsOf(runner, [rowsOf(again, 0, LENGTH - 3)], vocabSize);
  expect(await usesSplits()).toBe(false);
  const last = await logitsOf(runner, [rowsOf(again, LENGTH - 3, LENGTH), rowsOf(short, 0, 5)], vocabSize);
  expect(await usesSplits()).toBe(true);
  expect(differingWords(last, whole)).toBe(0);
  runner.dispose();
}, 120_000);

/** The same weights with positions that begin anew where they end. */
function withPositions(weights: Gpt2Weights, nPositions: number): Gpt2Weights {
  const { wpe } = weights;
  const readRows: Tensor["readRows"] = async (begin, end) => {
    const rows = await Promise.all(
      Array.from({ length: end - begin }, (_, i) => wpe.readRows((begin + i) % wpe.rows, ((begin + i) % wpe.rows) + 1)),
    );
    return new Uint8Array(await new Blob(rows).arrayBuffer());
  };
  return {
    ...weights,
    config: { ...weights.config, nPositions },
    wpe: { ...wpe, dtype: wpe.dtype, columns: wpe.columns, rows: nPositions, readRows },
  };
}

function sequenceAt(slot: number, prompt: readonly number[]): Sequence {
  const sequence = new Sequence({ requestId: `s${slot}`, index: 0, params: GREEDY, prompt, arrivalMs: 0 });
  sequence.slot = slot;
  sequence.blockTable = Array.from({ length: BLOCKS }, (_, i) => slot + 3 * i);
  return sequence;
}

function rowsOf(sequence: Sequence, start: number, end: number) {
  const samples = end === sequence.tokens.length;
  return { sequence, start, count: end - start, samples, drafts: [], scored: 0, cachedTokens: 0 };
}

/** Bits of the first sequence's. */
async function logitsOf(
  runner: Gpt2Runner,
  step: readonly ScheduledSequence[],
  vocabSize: number,
): Promise<ArrayBuffer> {
  await runner.submit(step);
  return (await readBuffer(opened.device, runner.activations.logits)).slice(0, 4 * vocabSize);
}
