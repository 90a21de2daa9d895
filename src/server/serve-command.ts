#!/usr/bin/env node
// The package's command, chorus-serve: the same server as `npm run serve`, without a checkout.

import { createEngine } from "../index.ts";
import { serveProcess } from "./serve-process.ts";

/** Opens Dawn, a separate package of 130 MB, which owners of a GPU install beside this one. */
async function openWebGpu(): Promise<{ gpu: GPU } | { reason: string }> {
  const name = "webgpu";
  try {
    const { create } = (await import(/* @vite-ignore */ name)) as { create: (flags: string[]) => GPU };
    return { gpu: create([]) };
  } catch {
    return { reason: 'npm\'s package "webgpu" is not installed here' };
  }
}

await serveProcess({ createEngine, openWebGpu });
