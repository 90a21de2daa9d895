import { float32ToFloat16 } from "../../src/files/half.ts";
import { encodeSafetensorsHeader } from "../../src/files/safetensors-header.ts";
import { describeModel } from "../../src/models/families.ts";
import {
  weightsOf,
  type Graph,
  type Matrix,
  type NormWeights,
  type Operation,
  type Weight,
} from "../../src/models/graph.ts";
import type { ModelSize } from "./model-sizes.ts";
import { seededRandom, type Random } from "../seeded-random.ts";

/** Returns the standard deviation of a weight's normal distribution. */
export type DeviationOf = (weight: Weight | Matrix, graph: Graph) => number;

/** As Hugging Face initialises GPT-2. */
const UNTRAINED: DeviationOf = () => 0.02;
/** Size of the parts in which a tensor's bytes are made, which bounds the memory beside the File. */
const PART_HALVES = 2 ** 22;
const ONE = 0x3c00;

/**
 * Returns the files of a model with random f16 weights: config.json, tokenizer.json with made-up words, and
 * model.safetensors. The same size and seed give the same bytes. Norms change nothing.
 */
export function makeRandomModel(size: ModelSize, seed: number, deviationOf: DeviationOf = UNTRAINED): File[] {
  const config = configOf(size);
  return [
    jsonFile("config.json", config),
    jsonFile("tokenizer.json", makeTokenizer(size.vocabSize)),
    new File(makeSafetensors(describeModel(config).graph, seededRandom(seed), deviationOf), "model.safetensors"),
  ];
}

export function configOf({ config, vocabSize }: ModelSize) {
  return { ...config, vocab_size: vocabSize, bos_token_id: vocabSize - 1, eos_token_id: vocabSize - 1 };
}

function jsonFile(name: string, value: unknown): File {
  return new File([JSON.stringify(value)], name, { type: "application/json" });
}

function makeTokenizer(vocabSize: number) {
  const content = "<|endoftext|>";
  const id = vocabSize - 1;
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  const words = Array.from({ length: id }, (_, word) => [`w${word}`, word] as const);
  return {
    version: "1.0",
    added_tokens: [{ id, content, special: true, lstrip: false, rstrip: false, single_word: false, normalized: false }],
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: { type: "BPE", vocab: Object.fromEntries([...words, [content, id]]), merges: [] },
  };
}

function normsOf(operation: Operation): readonly NormWeights[] {
  if (operation.type === "norm") return [operation.norm];
  if (operation.type === "deltaNet") return [operation.norm];
  return operation.type === "rotary" && operation.norms ? [operation.norms.queries, operation.norms.keys] : [];
}

function makeSafetensors(graph: Graph, random: Random, deviationOf: DeviationOf): BlobPart[] {
  const norms = graph.operations.flatMap(normsOf);
  // A weight's offset is not in the file.
  const ones = new Set(norms.flatMap(({ weight, weightOffset }) => (weightOffset === 1 ? [] : weight)));
  const constants = new Set(norms.flatMap(({ weight, bias }) => (bias ? [weight, bias] : [weight])));
  const draw = normalHalves(random);
  const data: Blob[] = [];
  let end = 0;
  const written = new Set<string>();
  const entries = weightsOf(graph).flatMap((weight) =>
    weight.tensors.flatMap(({ name, shape: rows, within }) => {
      if (written.has(name)) return []; // others of its rows
      written.add(name);
      const shape = within ? [within.numRows, ...rows.slice(1)] : rows;
      const length = shape.reduce((product, extent) => product * extent, 1);
      const begin = end;
      end += 2 * length;
      for (let done = 0; done < length; done += PART_HALVES) {
        const halves = new Uint16Array(Math.min(PART_HALVES, length - done));
        if (ones.has(weight)) halves.fill(ONE);
        else if (!constants.has(weight)) draw(halves, deviationOf(weight, graph));
        // A Blob, which the browser may keep outside JavaScript's memory, and on disk.
        data.push(new Blob([halves]));
      }
      return [{ name, dtype: "F16", shape, begin, end }];
    }),
  );
  return [encodeSafetensorsHeader(entries), ...data];
}

const TABLE_BITS = 12;

/**
 * Returns a function that fills an array with normally distributed halves, as bits. Drawing from a table is ten times as fast
 * as computing each.
 */
function normalHalves(random: Random): (halves: Uint16Array, deviation: number) => void {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const deviates = Array.from({ length: 2 ** TABLE_BITS }, normal);
  return (halves, deviation) => {
    const table = float32ToFloat16(Float32Array.from(deviates, (value) => deviation * value));
    // Two values from the upper bits of each draw, by xorshift: 124 million weights take about a second.
    let state = Math.floor(random() * 2 ** 32) | 1;
    for (let i = 0; i < halves.length; i += 2) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      halves[i] = table[state >>> (32 - TABLE_BITS)] ?? 0;
      if (i + 1 < halves.length) halves[i + 1] = table[(state >>> 4) & (2 ** TABLE_BITS - 1)] ?? 0;
    }
  };
}
