import { expect, it } from "vitest";

import statesWgsl from "../../../shaders/lib/states.wgsl?raw";
import stepWgsl from "../../../shaders/lib/step.wgsl?raw";
import { NO_RULES } from "../../engine/sampling/logit-rules.ts";
import { NO_FILTERS, type SamplingParams } from "../../engine/sampling/sampling-params.ts";
import { Sequence, type ScheduledSequence } from "../../engine/sequence.ts";
import { placeSequence } from "../../../tests/fakes/place-sequence.ts";
import { NO_STATE, type PlannedState } from "../../engine/step-plan.ts";
import { StepPlanner } from "../../engine/step-planner.ts";
import { openTestDevice, readBuffer } from "../../../tests/gpu/gpu.ts";
import { Arena } from "./arena.ts";
import { StepBuffer } from "./step-buffer.ts";

const { device } = await openTestDevice();

function sequenceOf(
  id: string,
  prompt: number[],
  slot: number,
  blockTable: number[],
  changes: Partial<SamplingParams> = {},
): Sequence {
  const params = {
    ...NO_RULES,
    ...NO_FILTERS,
    topLogprobs: 0,
    promptLogprobs: null,
    temperature: 0.5,
    topK: 7,
    topP: 0.25,
    seed: 5 * 2 ** 32 + 6,
    maxTokens: 9,
    stop: [],
    stopTokenIds: [],
    includeStopStrInOutput: false,
    ignoreEos: false,
    ...changes,
  };
  const sequence = new Sequence({ requestId: id, index: 0, params, prompt, arrivalMs: 0 });
  return placeSequence(sequence, slot, blockTable);
}

const LIMITS = { maxRows: 64, maxSamples: 4, maxSlots: 4, maxBlocks: 3, maxLength: 48, vocabSize: 40 } as const;

/** Of a step whose samples need nothing. */
const NOTHING = { anyRules: false, anyPlain: false, anyOther: false, maxTop: 0 };

/** Returns a step buffer and a function that writes planned steps to it. */
function newBuffer(hasStates = false) {
  const buffer = new StepBuffer(new Arena(device), { ...LIMITS, logprobsMode: "raw_logprobs", hasStates });
  const planner = new StepPlanner();
  const write = (step: readonly ScheduledSequence[]) => buffer.write(device.queue, planner.plan(step));
  return { buffer, write };
}

async function wordsOf(binding: GPUBufferBinding): Promise<Uint32Array> {
  return new Uint32Array(await readBuffer(device, binding.buffer), binding.offset, (binding.size ?? 0) / 4);
}

/** Returns the fields of a struct in lib/step.wgsl, one per word. */
function fieldsOf(name: string): string[] {
  const body = new RegExp(`struct ${name} {([^}]*)}`).exec(stepWgsl)?.[1] ?? "";
  return [...body.matchAll(/(\w+): (?:u32|f32)/g)].map(([, field = ""]) => field);
}

it("lays out rows and samples as lib/step.wgsl declares them", async () => {
  const { buffer, write } = newBuffer();
  const prompt = sequenceOf("a", [11, 12, 13], 2, [7]);
  const sampling = sequenceOf("b", [21, 22], 1, [3, 4]);
  const counts = write([
    { sequence: prompt, start: 1, count: 1, samples: false, drafts: [], scored: 0, cachedTokens: 0 },
    { sequence: sampling, start: 0, count: 2, samples: true, drafts: [], scored: 0, cachedTokens: 0 },
  ]);
  expect(counts).toEqual({
    rows: 3,
    sequences: 2,
    samples: 1,
    tiles: 0,
    singles: 3,
    longest: 2,
    ...NOTHING,
    anyOther: true,
  });
  expect([...(await wordsOf(buffer.step))].slice(0, fieldsOf("Step").length)).toEqual([3, 1, 0]);

  expect(fieldsOf("Row")).toEqual(["token", "position", "slot", "start"]);
  const rows = await wordsOf(buffer.rows);
  expect([...rows].slice(0, 12)).toEqual([12, 1, 2, 1, 21, 0, 1, 0, 22, 1, 1, 0]);

  const samples = await wordsOf(buffer.samples);
  const floats = new Float32Array(samples.slice().buffer);
  const fields = fieldsOf("Sample");
  const field = (name: string) => samples[fields.indexOf(name)];
  expect(fields.length).toBe(19);
  expect([field("row"), field("slot"), field("output_index"), field("top_k")]).toEqual([2, 1, 0, 7]);
  expect([field("seed_low"), field("seed_high")]).toEqual([6, 5]);
  expect([floats[fields.indexOf("temperature")], floats[fields.indexOf("top_p")]]).toEqual([0.5, 0.25]);
});

it("lays out sequences as lib/states.wgsl declares them, and which rows' states are kept", async () => {
  const { buffer, write } = newBuffer(true);
  const entry = (sequence: Sequence, start: number, count: number, state: PlannedState) => {
    return { sequence, start, count, samples: false, drafts: [], scored: 0, cachedTokens: 0, state };
  };
  const first = sequenceOf("a", [11, 12, 13, 14], 2, [7]);
  const second = sequenceOf("b", [21, 22], 1, [3, 4]);
  const keeps = [1, 3].map((rows) => ({ rows, slot: 10 * rows }));
  write([
    entry(first, 0, 4, { from: NO_STATE, to: 5, keeps }),
    entry(second, 1, 1, { from: 6, to: 6, keeps: [{ rows: 1, slot: 7 }] }),
  ]);
  write([entry(first, 0, 4, { from: 4, to: 5, keeps }), entry(second, 1, 1, { from: 6, to: 6, keeps: [] })]);
  expect(/struct StateRows {\s+first_row: u32,\s+num_rows: u32,\s+reads: u32,.*\s+writes: u32,/.test(statesWgsl)).toBe(
    true,
  );
  const { sequences, kept } = buffer.states ?? {};
  if (!sequences || !kept) throw new Error("no states");
  expect([...(await wordsOf(sequences))].slice(0, 8)).toEqual([0, 4, 4, 5, 4, 1, 6, 6]);
  expect([...(await wordsOf(kept))].slice(0, 5)).toEqual([10, NO_STATE, 30, NO_STATE, NO_STATE]);
  expect(newBuffer().buffer.states).toBeNull();
});

it("lays out scored rows as samples before the drawn ones", async () => {
  const { buffer, write } = newBuffer();
  const prompt = sequenceOf("a", [11, 12, 13], 2, [7], { promptLogprobs: 5 });
  const counts = write([
    { sequence: prompt, start: 0, count: 3, samples: true, drafts: [], scored: 2, cachedTokens: 0 },
  ]);
  const kinds = { ...NOTHING, anyPlain: true, anyOther: true, maxTop: 5 };
  expect(counts).toEqual({ rows: 3, sequences: 1, samples: 3, tiles: 0, singles: 3, longest: 3, ...kinds });
  const words = await wordsOf(buffer.samples);
  const fields = fieldsOf("Sample");
  const samples = [0, 1, 2].map((i) => words.slice(i * fields.length, (i + 1) * fields.length));
  const reported = (name: string) => samples.map((sample) => sample[fields.indexOf(name)]);
  expect(reported("row")).toEqual([0, 1, 2]);
  expect(reported("slot")).toEqual([2, 2, 2]);
  expect(reported("flags")).toEqual([16 + 32, 16 + 32, 0]);
  expect(reported("scored_token")).toEqual([12, 13, 0]);
  expect(reported("num_top")).toEqual([5, 5, 0]);
  expect(reported("temperature").slice(0, 2)).toEqual([0, 0]);
});

it("lays out rules and top log-probabilities, and uploads rules when their sequence gets its slot", async () => {
  const { buffer, write } = newBuffer();
  const ruled = sequenceOf("a", [11, 12, 13], 2, [7], {
    minP: 0.125,
    typicalP: 0.75,
    repetitionPenalty: 1.5,
    frequencyPenalty: -0.5,
    presencePenalty: 2,
    noRepeatNgramSize: 3,
    topLogprobs: 4,
    minTokens: 2,
    endTokenIds: [0, 39],
    logitBias: [[8, 1.5]],
    badWords: [[5, 6]],
    allowedTokenIds: [1, 33],
  });
  const plain = sequenceOf("b", [21], 1, [3]);
  const entry = (sequence: Sequence) => ({
    sequence,
    start: 0,
    count: 1,
    samples: true,
    drafts: [],
    scored: 0,
    cachedTokens: 0,
  });
  const early = { ...entry(ruled), count: 3 };
  expect(write([early, entry(plain)])).toEqual({
    rows: 4,
    sequences: 2,
    samples: 2,
    tiles: 0,
    singles: 4,
    longest: 3,
    anyRules: true,
    anyPlain: false,
    anyOther: true,
    maxTop: 4,
  });

  const fields = fieldsOf("Sample");
  const samples = await wordsOf(buffer.samples);
  const floats = new Float32Array(samples.slice().buffer);
  const float = (name: string) => floats[fields.indexOf(name)];
  const word = (name: string, sample = 0) => samples[sample * fields.length + fields.indexOf(name)];
  expect(["min_p", "typical_p", "repetition_penalty"].map(float)).toEqual([0.125, 0.75, 1.5]);
  expect(["frequency_penalty", "presence_penalty"].map(float)).toEqual([-0.5, 2]);
  expect(["no_repeat_ngram_size", "prompt_length", "num_top", "flags"].map((name) => word(name))).toEqual([3, 3, 4, 3]);
  expect([word("flags", 1), word("num_top", 1)]).toEqual([0, 0]);

  const history = new Uint32Array(await readBuffer(device, buffer.history));
  expect([...history].slice(2 * 48, 2 * 48 + 3)).toEqual([11, 12, 13]);
  const { words } = buffer.ruleShape;
  const rules = new Uint32Array(await readBuffer(device, buffer.rules)).subarray(2 * words, 3 * words);
  const bias = new Uint32Array(new Float32Array([1.5]).buffer)[0];
  expect([...rules].slice(0, 14)).toEqual([1, 2, 3, 1, 2, 2, 8, bias, 0, 39, 2, 5, 6, 0]);
});

it("uploads the tokens again if another sequence had the slot in between", async () => {
  const { buffer, write } = newBuffer();
  const entry = (sequence: Sequence) => ({
    sequence,
    start: 0,
    count: 1,
    samples: false,
    drafts: [],
    scored: 0,
    cachedTokens: 0,
  });
  const first = sequenceOf("a", [11, 12], 0, [1], { noRepeatNgramSize: 2 });
  const second = sequenceOf("b", [55], 0, [2], { noRepeatNgramSize: 2 });
  const historyAfter = async (sequence: Sequence) => {
    write([entry(sequence)]);
    return [...new Uint32Array(await readBuffer(device, buffer.history))].slice(0, 3);
  };
  expect(await historyAfter(first)).toEqual([11, 12, 0]);
  expect(await historyAfter(second)).toEqual([55, 12, 0]);
  first.append(13);
  expect(await historyAfter(first)).toEqual([11, 12, 13]);
});

it("uploads only the changed range of the block tables", async () => {
  const { buffer, write } = newBuffer();
  const a = sequenceOf("a", [1], 0, [9]);
  const b = sequenceOf("b", [1], 3, [5, 6, 8]);
  write(
    [a, b].map((sequence) => ({
      sequence,
      start: 0,
      count: 1,
      samples: false,
      drafts: [],
      scored: 0,
      cachedTokens: 0,
    })),
  );
  a.addBlocks([4]);
  write([{ sequence: a, start: 0, count: 1, samples: false, drafts: [], scored: 0, cachedTokens: 0 }]);
  const tables = new Uint32Array(await readBuffer(device, buffer.blockTables));
  expect([...tables].slice(0, 12)).toEqual([9, 4, 0, 0, 0, 0, 0, 0, 0, 5, 6, 8]);
});
