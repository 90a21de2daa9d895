import { GgufFolder } from "../../files/gguf/gguf-folder.ts";
import type { ModelFiles } from "../../files/model-files.ts";
import { configOfGguf } from "../../models/config-of-gguf.ts";

/** Returns a GGUF file as a folder in Hugging Face's layout. */
export function openGguf(files: ModelFiles, gguf: string): ModelFiles {
  return new GgufFolder(files, gguf, configOfGguf);
}
