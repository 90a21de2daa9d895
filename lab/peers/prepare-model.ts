// Prepares the model's folder for all engines: the checkpoint and its conversions. It is kept for the next run.

import { existsSync } from "node:fs";
import { cp, mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { ModelTokenizer } from "../../src/files/tokenizer.ts";
import { root } from "../../tools/run-command.mjs";
import { readCheckpoint } from "./checkpoint.ts";
import { toGguf, type GgufType } from "./gguf.ts";
import { toOnnx } from "./onnx-decoder.ts";
import { QUANTISATIONS, type Quantisation } from "./quantise.ts";
import { SIZES, writeRandomCheckpoint } from "./random-checkpoint.ts";

export interface PreparedModel {
  readonly folder: string;
  readonly numParameters: number;
  readonly maxPositions: number;
  readonly tokenizer: ModelTokenizer;
}

const SEED = 1234;
const EMBEDDED_MODEL = join("public", "models", "chorus-chat");

/** The ONNX files of each quantisation, under the names that transformers.js looks for. */
const ONNX_FILES = { q8: "onnx/model_quantized.onnx", q4: "onnx/model_q4.onnx" } as const;

/** @param into the folder for all models @param gguf with which integers [floats] */
export async function prepareModel(
  name: string,
  into: string,
  gguf: Quantisation | undefined,
  say: (line: string) => void,
): Promise<PreparedModel> {
  const folder = join(into, name);
  const size = Object.entries(SIZES).find(([known]) => known === name)?.[1];
  if (!size) await cp(join(root, EMBEDDED_MODEL), folder, { recursive: true });
  else if (!existsSync(join(folder, "model.safetensors"))) {
    say(`Making ${name}: random weights…`);
    await writeRandomCheckpoint(folder, size, SEED);
  }
  const checkpoint = await readCheckpoint(folder);
  const { numParameters } = checkpoint;
  const asGguf = (type: GgufType) => () => new Map([[`model-${type}.gguf`, toGguf(checkpoint, type)]]);
  /** Conversions by the file that is written last: if it exists, the others do too. */
  const onnx = gguf ? ONNX_FILES[QUANTISATIONS[gguf].onnx] : "onnx/model.onnx";
  const types: readonly GgufType[] = gguf ? [gguf] : isLarge(numParameters) ? ["f16"] : ["f32", "f16"];
  const conversions: readonly (readonly [file: string, convert: () => ReadonlyMap<string, Iterable<Uint8Array>>])[] = [
    [onnx, () => toOnnx(checkpoint, gguf).encode(onnx)],
    ...types.map((type) => [`model-${type}.gguf`, asGguf(type)] as const),
  ];
  for (const [file, convert] of conversions) {
    // The embedded model changes with each training.
    if (size && existsSync(join(folder, file))) continue;
    say(`Converting ${name}: ${file}…`);
    for (const [each, parts] of [...convert()].reverse()) await writeParts(join(folder, each), parts);
  }
  const { maxPositions } = checkpoint.model.shape;
  return { folder, numParameters, maxPositions, tokenizer: checkpoint.tokenizer };
}

/** Returns whether wllama can't read it in f32: it reads files of at most 2 GB. */
export function isLarge(numParameters: number): boolean {
  return 4 * numParameters > 2e9;
}

/** Writes a file, under another name until it is complete. */
async function writeParts(path: string, parts: Iterable<Uint8Array>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(`${path}.part`, "w");
  try {
    for (const part of parts) await file.writeFile(part);
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
}
