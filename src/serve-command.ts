#!/usr/bin/env node
// The package's command, chorus-serve: the same server as `npm run serve`, without a checkout.

import { createEngine } from "./index.ts";
import { serve } from "./serve/serve.ts";

const ended = new Promise<string>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      resolve(signal);
      // Whoever asks again does not want to wait.
      for (const again of ["SIGINT", "SIGTERM"]) process.on(again, () => process.exit(130));
    });
  }
});

/** Dawn is a package of its own, of 130 MB: whoever has a GPU installs it beside this one. */
async function openWebGpu(): Promise<{ gpu: GPU } | { reason: string }> {
  const name = "webgpu";
  try {
    const { create } = (await import(/* @vite-ignore */ name)) as { create: (flags: string[]) => GPU };
    return { gpu: create([]) };
  } catch {
    return { reason: 'npm\'s package "webgpu" is not installed here' };
  }
}

const print = (text: string) => void process.stdout.write(text);
const printError = (text: string) => void process.stderr.write(text);
const { env, argv } = process;
// Dawn would keep the process alive.
process.exit(await serve(argv.slice(2), { env, print, printError, createEngine, openWebGpu, ended }));
