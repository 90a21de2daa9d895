// tests/fixtures/families/: tiny random models of many families, with what a float64 forward gives that llama.cpp and
// transformers agree with. Of each GGUF file only the head is kept: its tensors are those of model.safetensors, in another
// order. A golden hash shows that it is put together as it was.

import { openSafetensors, type SafetensorsFile } from "../../src/files/safetensors.ts";
import { readF32, rowsOf } from "../../src/files/tensor.ts";
import { describeModel } from "../../src/models/families.ts";
import { openWeights, type ModelWeights } from "../../src/models/model-weights.ts";
import { openGgufWeights } from "./gguf-weights.ts";

export const DECODER_FIXTURES = [
  "arcee",
  "ernie4_5",
  "exaone4",
  "exaone4-window",
  "gemma2",
  "gemma3",
  "granite",
  "granitehybrid",
  "hunyuan-dense",
  "lfm2",
  "lfm2-long",
  "ministral",
  "olmo2",
  "olmo3",
  "phi3",
  "phi3-longrope",
  "qwen35",
  "smollm3",
] as const;

export type DecoderFixtureName = (typeof DECODER_FIXTURES)[number];

interface DecoderCase {
  readonly ids: readonly number[];
  /** 20 tokens, past any end of text. */
  readonly greedy: readonly number[];
  /** The likeliest tokens after the prompt. */
  readonly top5_ids: readonly number[];
  readonly top5_logprobs: readonly number[];
}

/** Where a tensor of the GGUF file comes from. */
type GgufPart =
  | { readonly values: readonly number[] }
  | {
      readonly of: string;
      readonly rows?: readonly [number, number];
      readonly plus?: number;
      readonly pairsOf?: number;
      readonly tiled?: Tiles;
    };

/**
 * Where value heads are that lie in the GGUF file in the order 0, 2, 1, 3: rows or columns, the first one, and those of a head.
 * All but matrices are one row.
 */
interface Tiles {
  readonly axis: "rows" | "columns";
  readonly first: number;
  readonly size: number;
}

interface GoldenFile {
  readonly cases: readonly DecoderCase[];
  /** An engine whose longest sequence is the original context of LongRoPE. */
  readonly short_context_case?: DecoderCase;
  readonly gguf?: {
    readonly sha256: string;
    readonly bytes: number;
    readonly alignment: number;
    readonly tensors: readonly GgufPart[];
  };
}

export type ReadFixture = (path: string) => Promise<Uint8Array<ArrayBuffer>>;

export interface DecoderFixture extends Pick<GoldenFile, "cases" | "short_context_case"> {
  /** From config.json and model.safetensors. */
  readonly weights: ModelWeights;
  /** From the GGUF file; null: there is none. */
  readonly gguf: () => Promise<ModelWeights | null>;
}

/** @param read reads a file of tests/fixtures/ */
export async function openDecoderFixture(name: DecoderFixtureName, read: ReadFixture): Promise<DecoderFixture> {
  const bytes = (file: string) => read(`families/${name}/${file}`);
  const json = async (file: string): Promise<unknown> => JSON.parse(new TextDecoder().decode(await bytes(file)));
  const golden = (await json("golden.json")) as GoldenFile;
  const config = await json("config.json");
  const checkpoint = await openSafetensors(new Blob([await bytes("model.safetensors")]));
  const { gguf } = golden;
  return {
    ...golden,
    weights: openWeights(checkpoint, (vocabSize) => describeModel(config, vocabSize)),
    gguf: async () =>
      gguf
        ? openGgufWeights(new File([await wholeGguf(await bytes("head.gguf"), gguf, checkpoint)], `${name}.gguf`))
        : null,
  };
}

/** Returns the difference of log-probabilities from the golden ones of the likeliest tokens, the largest one. */
export function worstLogprob(logits: ArrayLike<number>, { top5_ids, top5_logprobs }: DecoderCase): number {
  const all = Float64Array.from(logits);
  const highest = Math.max(...all);
  const logTotal = highest + Math.log(all.reduce((sum, logit) => sum + Math.exp(logit - highest), 0));
  const errors = top5_ids.map((id, i) => Math.abs((all[id] ?? NaN) - logTotal - (top5_logprobs[i] ?? NaN)));
  return Math.max(...errors);
}

async function wholeGguf(
  head: Uint8Array<ArrayBuffer>,
  { sha256, bytes, alignment, tensors }: NonNullable<GoldenFile["gguf"]>,
  checkpoint: SafetensorsFile,
): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(bytes);
  whole.set(head);
  let at = head.length;
  for (const part of tensors) {
    const data = new Uint8Array((await valuesOf(part, checkpoint)).buffer);
    whole.set(data, at);
    at += Math.ceil(data.length / alignment) * alignment;
  }
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", whole));
  const hex = [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex !== sha256) throw new Error(`the GGUF file has the hash ${hex}, not ${sha256}`);
  return whole;
}

async function valuesOf(part: GgufPart, checkpoint: SafetensorsFile): Promise<Float32Array<ArrayBuffer>> {
  if ("values" in part) return new Float32Array(part.values);
  const whole = checkpoint.tensor(part.of);
  const [begin, end] = part.rows ?? [0, whole.rows];
  const tensor = rowsOf(whole, begin, end - begin);
  const values = await readF32(tensor);
  const { plus, pairsOf: size, tiled } = part;
  if (plus !== undefined) return values.map((value) => value + plus);
  if (tiled) {
    const of = (i: number, along: Tiles["axis"]) => (along === tiled.axis ? untiled(i, tiled) : i);
    return values.map((_, i) => {
      const [row, column] = [Math.floor(i / whole.columns), i % whole.columns];
      return values[of(row, "rows") * whole.columns + of(column, "columns")] ?? NaN;
    });
  }
  if (size === undefined) return values;
  const { columns } = tensor;
  const rows = Array.from({ length: tensor.rows }, (_, row) => {
    const inHead = row % size;
    const from = row - inHead + (inHead >> 1) + (inHead % 2) * (size / 2);
    return [...values.subarray(from * columns, (from + 1) * columns)];
  });
  return new Float32Array(rows.flat());
}

function untiled(i: number, { first, size }: Tiles): number {
  if (i < first) return i;
  const head = Math.floor((i - first) / size);
  return i + ([0, 2, 1, 3].indexOf(head) - head) * size;
}
