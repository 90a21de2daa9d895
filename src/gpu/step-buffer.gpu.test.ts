import { expect, it } from "vitest";

import stepWgsl from "../../shaders/lib/step.wgsl?raw";
import { Sequence } from "../engine/sequence.ts";
import { openTestDevice, readBuffer } from "../testing/gpu.ts";
import { Arena } from "./arena.ts";
import { FEEDBACK, StepBuffer } from "./step-buffer.ts";

const { device } = await openTestDevice();

function sequenceOf(id: string, prompt: number[], slot: number, blockTable: number[]): Sequence {
  const params = {
    temperature: 0.5,
    topK: 7,
    topP: 0.25,
    seed: 5 * 2 ** 32 + 6,
    maxTokens: 9,
    stop: [],
    stopTokenIds: [],
    includeStopStrInOutput: false,
    ignoreEos: false,
  };
  const sequence = new Sequence({ requestId: id, index: 0, params, prompt, arrivalMs: 0 });
  sequence.slot = slot;
  sequence.blockTable = blockTable;
  return sequence;
}

const newBuffer = () => new StepBuffer(new Arena(device), { maxRows: 64, maxSlots: 4, maxBlocks: 3 });

async function wordsOf(binding: GPUBufferBinding): Promise<Uint32Array> {
  return new Uint32Array(await readBuffer(device, binding.buffer), binding.offset, (binding.size ?? 0) / 4);
}

/** Words of a struct in lib/step.wgsl, by field. */
function fieldsOf(name: string): string[] {
  const body = new RegExp(`struct ${name} {([^}]*)}`).exec(stepWgsl)?.[1] ?? "";
  return [...body.matchAll(/(\w+): (?:u32|f32)/g)].map(([, field = ""]) => field);
}

it("lays out rows and samples as lib/step.wgsl declares them", async () => {
  const buffer = newBuffer();
  const prompt = sequenceOf("a", [11, 12, 13], 2, [7]);
  const sampling = sequenceOf("b", [21, 22], 1, [3, 4]);
  const counts = buffer.write(device.queue, [
    { sequence: prompt, start: 1, count: 1, samples: false, cachedTokens: 0 },
    { sequence: sampling, start: 0, count: 2, samples: true, cachedTokens: 0 },
  ]);
  expect(counts).toEqual({ rows: 3, samples: 1 });
  expect([...(await wordsOf(buffer.step))].slice(0, fieldsOf("Step").length)).toEqual([3, 1]);

  expect(fieldsOf("Row")).toEqual(["token", "position", "slot", "unused"]);
  const rows = await wordsOf(buffer.rows);
  expect([...rows].slice(0, 12)).toEqual([12, 1, 2, 0, 21, 0, 1, 0, 22, 1, 1, 0]);

  const samples = await wordsOf(buffer.samples);
  const floats = new Float32Array(samples.slice().buffer);
  const fields = fieldsOf("Sample");
  const field = (name: string) => samples[fields.indexOf(name)];
  expect(fields.length).toBe(8);
  expect([field("row"), field("slot"), field("output_index"), field("top_k")]).toEqual([2, 1, 0, 7]);
  expect([field("seed_low"), field("seed_high")]).toEqual([6, 5]);
  expect([floats[fields.indexOf("temperature")], floats[fields.indexOf("top_p")]]).toEqual([0.5, 0.25]);
});

it("takes a sampled token from the GPU as long as its sequence keeps the slot", async () => {
  const buffer = newBuffer();
  const tokenOf = async (sequence: Sequence, start: number) => {
    buffer.write(device.queue, [{ sequence, start, count: 1, samples: true, cachedTokens: 0 }]);
    return (await wordsOf(buffer.rows))[0];
  };
  const first = sequenceOf("a", [11], 0, [1]);
  expect(await tokenOf(first, 0)).toBe(11);
  first.tokens.push(99);
  expect(await tokenOf(first, 1)).toBe(FEEDBACK);

  // Another sequence takes the slot; the first comes back later and must bring its token itself.
  const second = sequenceOf("b", [55, 56], 0, [2]);
  expect(await tokenOf(second, 1)).toBe(56);
  expect(await tokenOf(first, 1)).toBe(99);
});

it("uploads block tables where they changed", async () => {
  const buffer = newBuffer();
  const a = sequenceOf("a", [1], 0, [9]);
  const b = sequenceOf("b", [1], 3, [5, 6, 8]);
  buffer.write(
    device.queue,
    [a, b].map((sequence) => ({ sequence, start: 0, count: 1, samples: false, cachedTokens: 0 })),
  );
  a.blockTable.push(4);
  buffer.write(device.queue, [{ sequence: a, start: 0, count: 1, samples: false, cachedTokens: 0 }]);
  const tables = new Uint32Array(await readBuffer(device, buffer.blockTables));
  expect([...tables].slice(0, 12)).toEqual([9, 4, 0, 0, 0, 0, 0, 0, 0, 5, 6, 8]);
});
