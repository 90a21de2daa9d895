// A program of its own in plain Node: runs the samples of the documents, one after the other, and writes what came of each, as
// JSON. node node-samples.mjs LIBRARY SAMPLE...

import { pathToFileURL } from "node:url";

const [library = "", ...files] = process.argv.slice(2);
/** @type {Record<string, { numLines: number, error: string | null }>} */
const found = {};
for (const file of files) {
  let numLines = 0;
  console.log = () => void numLines++;
  /** @type {string | null} */
  let error = null;
  try {
    await import(pathToFileURL(file).href);
  } catch (thrown) {
    error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  }
  found[file] = { numLines, error };
}
const { engine } = await import(pathToFileURL(library).href);
await engine.dispose();
process.stdout.write(JSON.stringify(found), () => process.exit());
