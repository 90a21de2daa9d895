import { expect, it } from "vitest";

import stepWgsl from "../../shaders/lib/step.wgsl?raw";
import type { DrawnToken } from "../engine/step-plan.ts";
import { SAMPLE_FIELDS, SAMPLE_WORDS, SampleFlag, SampleView, writeSample } from "./sample-record.ts";

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const DRAWN: DrawnToken = {
  kind: "draw",
  row: 1,
  slot: 2,
  numTop: 3,
  outputIndex: 4,
  promptLength: 5,
  params: {
    temperature: 0.5,
    topK: Infinity,
    topP: 0.25,
    minP: 0.125,
    typicalP: 0.75,
    seed: 6 + 7 * 2 ** 32,
    repetitionPenalty: 1.5,
    frequencyPenalty: -0.5,
    presencePenalty: 2.5,
    noRepeatNgramSize: 8,
  },
  isProcessed: true,
  isTooEarly: false,
  isNormalised: true,
  mask: 9,
};

/** Writes a sample between two others, and returns its fields. */
function written(...sample: Parameters<typeof writeSample> extends [unknown, ...infer Rest] ? Rest : never) {
  const view = new SampleView(Uint32Array.from({ length: 3 * SAMPLE_WORDS }, () => 77).buffer);
  view.at = SAMPLE_WORDS;
  writeSample(view, ...sample);
  const fields = Object.fromEntries(SAMPLE_FIELDS.map(([name]) => [name, view[name]]));
  const others = [0, 2].flatMap((place) => {
    view.at = place * SAMPLE_WORDS;
    return SAMPLE_FIELDS.filter(([, type]) => type === "u32").map(([name]) => view[name]);
  });
  expect(new Set(others)).toEqual(new Set([77]));
  return fields;
}

it("has the fields and flags that the shaders declare", () => {
  const struct = /struct Sample {([^}]*)}/.exec(stepWgsl)?.[1] ?? "";
  const declared = [...struct.matchAll(/(\w+): (\w+)/g)].map(([, name, type]) => [name, type]);
  expect(declared).toEqual(SAMPLE_FIELDS.map(([name, type]) => [snake(name), type]));
  for (const [name, bit] of Object.entries(SampleFlag)) {
    expect(stepWgsl).toContain(`const ${snake(name).toUpperCase()} = ${bit}u;`);
  }
});

it("brings every field of a token that is drawn, and nothing else", () => {
  expect(written(DRAWN, SampleFlag.plain)).toEqual({
    row: 1,
    slot: 2,
    numTop: 3,
    outputIndex: 4,
    promptLength: 5,
    seedLow: 6,
    seedHigh: 7,
    temperature: 0.5,
    topK: 0xffffffff,
    topP: 0.25,
    minP: 0.125,
    typicalP: 0.75,
    repetitionPenalty: 1.5,
    frequencyPenalty: -0.5,
    presencePenalty: 2.5,
    noRepeatNgramSize: 8,
    flags: 1 + 4 + 8 + 32,
    mask: 9,
    scoredToken: 0,
  });
});

it("brings a token that is scored, with the parameters of a greedy draw", () => {
  const sample = written({ kind: "score", row: 1, slot: 2, numTop: 3, tokenId: 11 });
  expect(sample).toMatchObject({ row: 1, slot: 2, numTop: 3, scoredToken: 11, flags: SampleFlag.scored });
  expect(sample).toMatchObject({ temperature: 0, topK: 0, topP: 1, minP: 0, typicalP: 1, repetitionPenalty: 1 });
});
