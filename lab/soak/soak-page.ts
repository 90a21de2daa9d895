// The page of `npm run bench -- soak`: real engines in workers. lab/runs/bench-soak.mjs does the parts that a page can't.

import { createEngine, type EngineConfig } from "../../src/index.ts";
import { growthOf, soak, type SoakHome } from "./soak.ts";

/** The methods that the tool gives to the page. */
type Outside = Pick<SoakHome, "loseDevice" | "memory"> & Required<Pick<SoakHome, "hide">>;

const CACHE = { maxNumSeqs: 12, maxNumBatchedTokens: 64, numGpuBlocks: 80 } as const;
const KINDS: readonly EngineConfig[] = [
  { backend: "webgpu", dtype: "f32", speculation: { method: "ngram" } },
  { backend: "webgpu", dtype: "q8", runAhead: 4, schedulingPolicy: "balanced" },
  { backend: "cpu" },
];

async function run(options: { ms: number; seed: number }) {
  const outside = globalThis as unknown as Outside;
  let isOnGpu = false;
  const report = await soak(
    {
      numKinds: KINDS.length,
      open(kind) {
        const config = { ...CACHE, seed: 1, ...KINDS[kind] };
        isOnGpu = config.backend === "webgpu";
        return createEngine({ model: "/models/chorus-chat/", ...config });
      },
      nowMs: () => performance.now(),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      loseDevice: async () => isOnGpu && (await outside.loseDevice()),
      hide: () => outside.hide(),
      memory: () => outside.memory(),
      notify: (line) => console.info(line),
    },
    options,
  );
  return { report, growth: growthOf(report) };
}

Object.assign(globalThis, { run });
