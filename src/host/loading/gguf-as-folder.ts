import type { ModelFiles } from "../../files/model-files.ts";

/** Returns a model's files as a folder in Hugging Face's layout, also if they are a GGUF file. */
export async function asFolder(files: ModelFiles): Promise<ModelFiles> {
  if (files.gguf === null) return files;
  // Loaded with the first GGUF file.
  const { openGguf } = await import("./open-gguf.ts");
  return openGguf(files, files.gguf);
}
