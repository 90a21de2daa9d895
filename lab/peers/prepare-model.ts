// Prepares the model's folder for all engines: the checkpoint and its conversions. It is kept for the next run.

import { existsSync } from "node:fs";
import { cp, mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { ModelTokenizer } from "../../src/files/tokenizer.ts";
import { root } from "../../tools/run-command.mjs";
import { readCheckpoint } from "./checkpoint.ts";
import { toGguf, type GgufType } from "./gguf.ts";
import { toOnnx } from "./onnx-decoder.ts";
import { SIZES, writeRandomCheckpoint } from "./random-checkpoint.ts";

export interface PreparedModel {
  readonly name: string;
  readonly folder: string;
  readonly numParameters: number;
  readonly tokenizer: ModelTokenizer;
}

const SEED = 1234;
const EMBEDDED_MODEL = join("public", "models", "chorus-chat");

/** @param into the folder for all models */
export async function prepareModel(name: string, into: string, say: (line: string) => void): Promise<PreparedModel> {
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
  const conversions: readonly (readonly [file: string, convert: () => ReadonlyMap<string, Iterable<Uint8Array>>])[] = [
    ["onnx/model.onnx", () => toOnnx(checkpoint).encode("onnx/model.onnx")],
    ...(isLarge(numParameters) ? [] : ([["model-f32.gguf", asGguf("f32")]] as const)),
    ["model-f16.gguf", asGguf("f16")],
  ];
  for (const [file, convert] of conversions) {
    // The embedded model changes with each training.
    if (size && existsSync(join(folder, file))) continue;
    say(`Converting ${name}: ${file}…`);
    for (const [each, parts] of [...convert()].reverse()) await writeParts(join(folder, each), parts);
  }
  return { name, folder, numParameters, tokenizer: checkpoint.tokenizer };
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
