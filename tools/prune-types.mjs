// tsc writes a declaration for each file of the library. Deletes those that no entry's types reach.

import { readdirSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { root } from "./run-command.mjs";

const library = join(root, "dist/lib");
const types = join(library, "types");

const entries = readdirSync(library).filter((name) => name.endsWith(".d.ts"));
const reached = new Set(entries.map((name) => join(library, name)));
for (const file of reached) {
  for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)\.[jt]s"/g)) {
    reached.add(resolve(dirname(file), `${path}.d.ts`));
  }
}

const paths = readdirSync(types, { recursive: true, encoding: "utf8" }).map((path) => join(types, path));
// A folder comes after what is in it.
for (const path of paths.toSorted().toReversed()) {
  if (!statSync(path).isDirectory()) {
    if (!reached.has(path)) rmSync(path);
  } else if (readdirSync(path).length === 0) rmdirSync(path);
}
