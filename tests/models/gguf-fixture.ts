import { readFileSync } from "node:fs";

import type { ModelWeights } from "../../src/models/model-weights.ts";
import { openGgufWeights } from "./gguf-weights.ts";

/** Opens a whole model. @param set a folder of tests/fixtures/gguf/ */
export function openGgufFixture(set: string): Promise<ModelWeights> {
  const folder = `tests/fixtures/gguf/${set}`;
  const { file } = JSON.parse(readFileSync(`${folder}/golden.json`, "utf8")) as { file: string };
  return openGgufWeights(new File([new Uint8Array(readFileSync(`${folder}/${file}`))], file));
}
