import { float32ToFloat16 } from "../../src/files/half.ts";
import { describeModel } from "../../src/models/families.ts";
import { weightsOf, type NormWeights, type Operation, type Weight } from "../../src/models/graph.ts";
import type { Model } from "../../src/models/model.ts";
import type { ModelSize } from "./model-sizes.ts";
import { seededRandom, type Random } from "../seeded-random.ts";

/** Standard deviation of the normal distribution, as Hugging Face initialises GPT-2. */
const WEIGHT_DEVIATION = 0.02;
/** Size of the parts in which a tensor's bytes are made, which bounds the memory beside the File. */
const PART_HALVES = 2 ** 22;
const ONE = 0x3c00;

/**
 * Returns the files of a model with random f16 weights: config.json, model.safetensors and a tokenizer with made-up
 * words. The same size and seed give the same bytes.
 */
export function makeRandomModel(size: ModelSize, seed: number): File[] {
  const config = configOf(size);
  return [
    jsonFile("config.json", config),
    jsonFile("tokenizer.json", makeTokenizer(size.vocabSize)),
    new File(makeSafetensors(describeModel(config), seededRandom(seed)), "model.safetensors"),
  ];
}

export function configOf(size: ModelSize) {
  const endOfText = size.vocabSize - 1;
  const tokens = { vocab_size: size.vocabSize, bos_token_id: endOfText, eos_token_id: endOfText };
  if ("config" in size) return { ...size.config, ...tokens };
  return {
    model_type: "gpt2",
    activation_function: "gelu_new",
    n_layer: size.nLayer,
    n_embd: size.nEmbd,
    n_head: size.nHead,
    n_positions: size.nPositions,
    layer_norm_epsilon: 1e-5,
    tie_word_embeddings: true,
    ...tokens,
  };
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

type Fill = "random" | "ones" | "zeros";

/** Returns names, shapes and contents, in the order of computation. */
function tensorsOf({ graph }: Model): (readonly [string, readonly number[], Fill])[] {
  const fills = new Map<Weight, Fill>();
  for (const norm of graph.operations.flatMap(normsOf)) {
    // A weight's offset is not in the file.
    fills.set(norm.weight, norm.weightOffset === 1 ? "zeros" : "ones");
    if (norm.bias) fills.set(norm.bias, "zeros");
  }
  return weightsOf(graph).flatMap((weight) =>
    weight.tensors.map(({ name, shape }) => [name, shape, fills.get(weight) ?? "random"] as const),
  );
}

function normsOf(operation: Operation): readonly NormWeights[] {
  if (operation.type === "norm") return [operation.norm];
  return operation.type === "rotary" && operation.norms ? [operation.norms.queries, operation.norms.keys] : [];
}

function makeSafetensors(model: Model, random: Random): BlobPart[] {
  const header: Record<string, object> = {};
  const data: BlobPart[] = [];
  const table = normalHalves(random);
  let offset = 0;
  for (const [name, shape, fill] of tensorsOf(model)) {
    const length = shape.reduce((product, extent) => product * extent, 1);
    header[name] = { dtype: "F16", shape, data_offsets: [offset, offset + 2 * length] };
    offset += 2 * length;
    for (let done = 0; done < length; done += PART_HALVES) {
      // A Blob, which the browser may keep outside JavaScript's memory, and on disk.
      data.push(new Blob([makeHalves(Math.min(PART_HALVES, length - done), fill, table, random)]));
    }
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const prefix = new DataView(new ArrayBuffer(8));
  prefix.setBigUint64(0, BigInt(json.length), true);
  return [prefix, json, ...data];
}

const TABLE_BITS = 12;

/** Returns normally distributed halves, as bits. Drawing from a table is ten times as fast as computing each. */
function normalHalves(random: Random): Uint16Array {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return float32ToFloat16(Float32Array.from({ length: 2 ** TABLE_BITS }, () => WEIGHT_DEVIATION * normal()));
}

function makeHalves(length: number, fill: Fill, table: Uint16Array, random: Random): Uint16Array<ArrayBuffer> {
  const halves = new Uint16Array(length);
  if (fill === "ones") halves.fill(ONE);
  if (fill !== "random") return halves;
  // Two values from the upper bits of each draw, by xorshift: 124 million weights take about a second.
  let state = Math.floor(random() * 2 ** 32) | 1;
  for (let i = 0; i < length; i += 2) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    halves[i] = table[state >>> (32 - TABLE_BITS)] ?? 0;
    if (i + 1 < length) halves[i + 1] = table[(state >>> 4) & (2 ** TABLE_BITS - 1)] ?? 0;
  }
  return halves;
}
