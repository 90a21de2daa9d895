// Folders of models to be served and downloaded, for tests in Node.

import { readFileSync } from "node:fs";
import { encodeSafetensorsHeader } from "../../src/files/safetensors-header.ts";

const FIXTURE = "tests/fixtures/gpt2-tiny";
export const WEIGHTS = "model.safetensors";

export const fixture = (name: string) => new Uint8Array(readFileSync(`${FIXTURE}/${name}`));
const SMALL_FILES = ["config.json", "tokenizer.json"];
export const modelFiles = (weights: Uint8Array = fixture(WEIGHTS)) =>
  new Map([...SMALL_FILES.map((name) => [name, fixture(name)] as const), [WEIGHTS, weights] as const]);

const made = new Map<number, Uint8Array<ArrayBuffer>>();

/** Weights of `mebibytes` and a mask that nobody uses, in the fixture's names where they matter. Made once, for all to read. */
export function largeWeights(mebibytes: number): Uint8Array<ArrayBuffer> {
  const weights = made.get(mebibytes) ?? makeWeights(mebibytes);
  made.set(mebibytes, weights);
  return weights;
}

function makeWeights(mebibytes: number): Uint8Array<ArrayBuffer> {
  const bytes = mebibytes * 2 ** 20;
  const half = bytes / 2;
  const entry = (name: string, begin: number, end: number) => ({ name, dtype: "U8", shape: [end - begin], begin, end });
  const header = encodeSafetensorsHeader([
    entry("transformer.wte.weight", 0, half),
    entry("transformer.h.0.attn.bias", half, half + 2 ** 20),
    entry("transformer.ln_f.bias", half + 2 ** 20, bytes + 2 ** 20),
  ]);
  const file = new Uint8Array(header.length + bytes + 2 ** 20);
  file.set(header);
  for (let i = header.length; i < file.length; i++) file[i] = (i * 2654435761) >>> 24;
  return file;
}
