// npm run bench: all measurements, a part for each word. Without a word: the benchmark page. bench-parts.ts has the parts.

import { addOptions, openCommand } from "../../tools/command-line.mjs";

const ABOUT =
  "Measures Chorus. Without a part: the benchmark page. `npm run bench -- PART --help` lists " +
  "the options of a part. CHROME_PATH names another browser, CHORUS_ADAPTER=real takes the machine's GPU.";

const command = await openCommand("npm run bench --", ABOUT);
// The packages are there now.
const { loadModule } = await import("./load-module.mjs");
/** @type {typeof import("./bench-parts.ts")} */
const { PARTS } = await loadModule("lab/runs/bench-parts.ts");
for (const { name, about, argument, options, module } of PARTS) {
  const part = command.command(name).description(about).helpOption("--help", "this text");
  await addOptions(part, options);
  if (argument) part.argument(argument.name, argument.about).usage(`[options] ${argument.name}`);
  part.action(async (/** @type {any[]} */ ...given) => {
    const values = argument ? { path: given[0], ...given[1] } : given[0];
    try {
      const { run } = await loadModule(module);
      if ((await run(values)) === false) process.exitCode = 1;
    } catch (error) {
      process.exitCode = 1;
      console.error(process.env.DEBUG ? error : sentenceOf(error));
    }
  });
}
const words = process.argv.slice(2);
const namesNone = words.length === 0 || (words[0]?.startsWith("-") && words[0] !== "--help");
await command.parseAsync(namesNone ? ["page", ...words] : words, { from: "user" });

/** Returns an error's message: for a missing file or server a stack would not help. DEBUG=1 shows it. */
function sentenceOf(/** @type {unknown} */ error) {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
