// A program of its own in plain Node: answers that follow grammars, while another's grammar explodes.

import { readdirSync, readFileSync } from "node:fs";

// A URL, since types are checked before anything is built.
/** @type {typeof import("../../src/index.ts")} */
const { createEngine } = await import(new URL("../../dist/lib/chorus.js", import.meta.url).href);

const folder = "public/models/chorus-chat";
const model = readdirSync(folder).map((name) => new File([readFileSync(`${folder}/${name}`)], name));
const engine = await createEngine({ model, worker: false, backend: "cpu" });
const ask = async (/** @type {string} */ regex) => {
  const { choices } = await engine.completions.create({
    prompt: "Is it?",
    structured_outputs: { regex },
    max_tokens: 9,
  });
  return choices[0]?.text;
};
const bomb = ask("(a?b?c?d?e?){400}").catch((/** @type {{ code: string }} */ { code }) => code);
const texts = [await ask("yes|no"), await ask("yes|no")];
process.stdout.write(JSON.stringify({ texts, bomb: await bomb }));
await engine.dispose();
