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
/**
 * Random weights are drawn once, and a tensor is the same Blob over and over: Chromium may hold no more than 500 MB of distinct
 * ones. Their number is prime, so that no two rows of a matrix are equal.
 */
const POOL_HALVES = 2 ** 18 - 5;
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
  const pools = new Map<number, Blob>();
  const draw = normalHalves(random);
  const data: Blob[] = [];
  let end = 0;
  let at = 0;
  const written = new Set<string>();
  const entries = weightsOf(graph).flatMap((weight) =>
    weight.tensors.flatMap(({ name, shape: rows, within }) => {
      if (written.has(name)) return []; // others of its rows
      written.add(name);
      const shape = within ? [within.numRows, ...rows.slice(1)] : rows;
      const length = shape.reduce((product, extent) => product * extent, 1);
      const begin = end;
      end += 2 * length;
      if (constants.has(weight)) {
        data.push(new Blob([new Uint16Array(length).fill(ones.has(weight) ? ONE : 0)]));
      } else {
        const deviation = deviationOf(weight, graph);
        const pool = pools.get(deviation) ?? new Blob([draw(deviation)]);
        pools.set(deviation, pool);
        for (let left = 2 * length; left > 0;) {
          const part = pool.slice(at, at + left);
          data.push(part);
          left -= part.size;
          at = (at + part.size) % pool.size;
        }
      }
      return [{ name, dtype: "F16", shape, begin, end }];
    }),
  );
  return [encodeSafetensorsHeader(entries), ...data];
}

const TABLE_BITS = 12;

/**
 * Returns a function that makes a pool of normally distributed halves, as bits. Drawing from a table is ten times as fast as
 * computing each.
 */
function normalHalves(random: Random): (deviation: number) => Uint16Array<ArrayBuffer> {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const deviates = Array.from({ length: 2 ** TABLE_BITS }, normal);
  return (deviation) => {
    const halves = new Uint16Array(POOL_HALVES);
    const table = float32ToFloat16(Float32Array.from(deviates, (value) => deviation * value));
    let state = Math.floor(random() * 2 ** 32) | 1;
    // By xorshift.
    for (let i = 0; i < halves.length; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      halves[i] = table[state >>> (32 - TABLE_BITS)] ?? 0;
    }
    return halves;
  };
}
