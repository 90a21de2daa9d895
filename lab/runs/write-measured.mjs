import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../../tools/run-command.mjs";

/** Puts what was measured into a document, between its two comments. */
export function writeMeasured(/** @type {string} */ path, /** @type {string} */ measured) {
  const [begin, end] = ["<!-- measured -->", "<!-- end -->"];
  const before = readFileSync(join(root, path), "utf8");
  const after = before.replace(new RegExp(`${begin}[^]*${end}`), () => `${begin}\n\n${measured}\n\n${end}`);
  writeFileSync(join(root, path), after);
  console.log(`Written to ${path}.`);
}
