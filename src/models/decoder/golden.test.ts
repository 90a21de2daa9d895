// The families' graphs in float64. What every backend is held to must be right itself.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { fewLayers } from "../few-layers.ts";
import { DECODER_FIXTURES, openDecoderFixture, worstLogprob } from "../../../tests/models/decoder-fixtures.ts";
import { lastLogitsReference } from "../../../tests/references/graph-reference.ts";

const read = async (path: string) => new Uint8Array(await readFile(`tests/fixtures/${path}`));

test.each(DECODER_FIXTURES)("%s has the golden log-probabilities", async (name) => {
  const { weights, cases } = await openDecoderFixture(name, read);
  for (const golden of cases.filter(({ ids }) => ids.length === 33)) {
    const logits = await lastLogitsReference(weights, golden.ids);
    expect(worstLogprob(logits, golden)).toBeLessThan(1e-4);
    expect(logits.indexOf(Math.max(...logits))).toBe(golden.greedy[0]);
  }
});

test.each(DECODER_FIXTURES)("%s has few layers that can be checked quickly", async (name) => {
  const { graph } = (await openDecoderFixture(name, read)).weights.model;
  const kinds = new Set(graph.operations.flatMap((one) => (one.type === "attention" ? [one.window ?? null] : [])));
  const few = fewLayers(graph);
  expect(few?.operations.filter(({ type }) => type === "attention")).toHaveLength(kinds.size);
});
