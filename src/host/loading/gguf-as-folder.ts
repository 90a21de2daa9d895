import { GgufFolder } from "../../files/gguf/gguf-folder.ts";
import type { ModelFiles } from "../../files/model-files.ts";
import { configOfGguf } from "../../models/families.ts";

/** Returns a model's files as a folder in Hugging Face's layout, also if they are a GGUF file. */
export function asFolder(files: ModelFiles): ModelFiles {
  return files.gguf === null ? files : new GgufFolder(files, files.gguf, configOfGguf);
}
