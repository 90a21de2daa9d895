import { readFileSync } from "node:fs";

import { GgufFolder } from "../../src/files/gguf/gguf-folder.ts";
import { openFileList } from "../../src/files/model-files.ts";
import { configOfGguf } from "../../src/models/config-of-gguf.ts";
import { describeModel } from "../../src/models/families.ts";
import { openWeights, type ModelWeights } from "../../src/models/model-weights.ts";

/** Opens a whole model. @param set a folder of tests/fixtures/gguf/ */
export async function openGgufFixture(set: string): Promise<ModelWeights> {
  const folder = `tests/fixtures/gguf/${set}`;
  const { file } = JSON.parse(readFileSync(`${folder}/golden.json`, "utf8")) as { file: string };
  const files = openFileList([new File([new Uint8Array(readFileSync(`${folder}/${file}`))], file)]);
  const gguf = new GgufFolder(files, file, configOfGguf);
  const config = await gguf.readJson("config.json");
  return openWeights(await gguf.openOwnCheckpoint(), (vocabSize) => describeModel(config, vocabSize));
}
