import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../../tools/run-command.mjs";

const BEGIN = "<!-- measured -->";
const END = "<!-- end -->";

/** Returns a document with other text between its two comments. @throws Error where it lacks them */
export function withMeasured(document: string, measured: string, begin = BEGIN): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`The document lacks ${begin} or ${END}.`);
  return `${document.slice(0, from)}${begin}\n\n${measured.trim()}\n\n${document.slice(to)}`;
}

/** Writes text between the two comments of a document of the repository. @param path from its root */
export function writeMeasured(path: string, measured: string, begin = BEGIN): void {
  const file = join(root, path);
  writeFileSync(file, withMeasured(readFileSync(file, "utf8"), measured, begin));
}
