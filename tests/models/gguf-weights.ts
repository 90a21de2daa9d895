import { GgufFolder } from "../../src/files/gguf/gguf-folder.ts";
import { openFileList } from "../../src/files/model-files.ts";
import { configOfGguf } from "../../src/models/config-of-gguf.ts";
import { describeModel } from "../../src/models/families.ts";
import { openWeights, type ModelWeights } from "../../src/models/model-weights.ts";

/** Opens a model that is a GGUF file. */
export async function openGgufWeights(file: File): Promise<ModelWeights> {
  const gguf = new GgufFolder(openFileList([file]), file.name, configOfGguf);
  const config = await gguf.readJson("config.json");
  return openWeights(await gguf.openOwnCheckpoint(), (vocabSize) => describeModel(config, vocabSize));
}
