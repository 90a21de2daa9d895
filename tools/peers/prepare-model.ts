// Prepares the model's folder for all engines: the checkpoint and its conversions. It is kept for the next run.

import { existsSync } from "node:fs";
import { cp, mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { ModelTokenizer } from "../../src/files/tokenizer.ts";
import { root } from "../run-command.mjs";
import { readCheckpoint, type PeerCheckpoint } from "./checkpoint.ts";
import type { GgufType } from "./gguf.ts";
import { gpt2ToGguf } from "./gpt2-gguf.ts";
import { gpt2ToOnnx } from "./gpt2-onnx.ts";
import { llamaToGguf } from "./llama-gguf.ts";
import { llamaToOnnx } from "./llama-onnx.ts";
import { SIZES, writeRandomCheckpoint } from "./random-checkpoint.ts";

export interface PreparedModel {
  readonly name: string;
  readonly folder: string;
  readonly numParameters: number;
  readonly tokenizer: ModelTokenizer;
}

const SEED = 1234;
const EMBEDDED_MODEL = join("public", "models", "chorus-chat");

export const MODEL_NAMES = [...Object.keys(SIZES), "embedded"] as const;

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
  const files = {
    "onnx/model.onnx": () => toOnnx(checkpoint),
    "model-f32.gguf": () => toGguf(checkpoint, "f32"),
    "model-f16.gguf": () => toGguf(checkpoint, "f16"),
  };
  for (const [file, convert] of Object.entries(files)) {
    const path = join(folder, file);
    // The embedded model changes with each training.
    if (size && existsSync(path)) continue;
    say(`Converting ${name}: ${file}…`);
    await writeParts(path, convert());
  }
  return { name, folder, numParameters: checkpoint.weights.numParameters, tokenizer: checkpoint.tokenizer };
}

function toOnnx({ weights }: PeerCheckpoint): Iterable<Uint8Array> {
  return weights.family === "gpt2" ? gpt2ToOnnx(weights) : llamaToOnnx(weights);
}

function toGguf({ weights, vocabulary }: PeerCheckpoint, type: GgufType): Iterable<Uint8Array> {
  return weights.family === "gpt2" ? gpt2ToGguf(weights, vocabulary, type) : llamaToGguf(weights, vocabulary, type);
}

/** Under another name until it is whole. */
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
