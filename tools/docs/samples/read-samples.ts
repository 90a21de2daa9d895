// The blocks of code in the documents.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../../run-command.mjs";

export interface Sample {
  /** The document and the line at which the block begins: "docs/library.md:17". */
  readonly place: string;
  /** "js", "sh"...; "" where none is named. */
  readonly language: string;
  readonly code: string;
}

/** Documents beside those of docs/ and examples/ that people copy from. */
const ELSEWHERE = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "shaders/README.md"];

/** Returns every block of code of the documents, in their order. */
export function readSamples(): readonly Sample[] {
  const inFolders = ["docs", "examples"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((path) => `${folder}/${String(path).replaceAll("\\", "/")}`)
      .filter((path) => path.endsWith(".md") && !path.includes("node_modules")),
  );
  return [...ELSEWHERE, ...inFolders].flatMap((path) => {
    const markdown = readFileSync(join(root, path), "utf8");
    return [...markdown.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(({ index, 1: language = "", 2: code = "" }) => ({
      place: `${path}:${markdown.slice(0, index).split("\n").length}`,
      language,
      code,
    }));
  });
}

/** Returns the commands of a block of shell: lines without what follows a #, and with their continuations. */
export function commandsOf({ code }: Sample): readonly string[] {
  return code
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter(Boolean);
}
