import { openFileList, type ModelFiles } from "../src/files/model-files.ts";

/** Returns a model's files with these contents: texts as they are, all else as JSON. */
export function filesInMemory(contents: Readonly<Record<string, unknown>>): ModelFiles {
  return openFileList(
    Object.entries(contents).map(
      ([name, value]) => new File([typeof value === "string" ? value : JSON.stringify(value)], name),
    ),
  );
}
