// The page of `npm run bench -- soak`: real engines in workers. lab/runs/bench-soak.ts does the parts that a page can't.

import { createEngine, type CreateEngineOptions, type EngineConfig } from "../../src/index.ts";
import { soak, type SoakHome } from "./soak.ts";

/** The methods that the tool gives to the page. */
type Outside = Pick<SoakHome, "loseDevice" | "memory"> & Required<Pick<SoakHome, "hide">>;

const MODEL = "/models/chorus-chat/";
const SHARED = { backend: "cpu", worker: "shared" } as const;
const VISIT_MS = 2000;

const COMMON = { seed: 1, maxNumSeqs: 12, maxNumBatchedTokens: 64, numGpuBlocks: 80 } as const;
const KINDS: readonly (EngineConfig & Pick<CreateEngineOptions, "worker">)[] = [
  { backend: "webgpu", dtype: "f32", speculation: { method: "ngram" } },
  { backend: "webgpu", dtype: "q8", runAhead: 4, schedulingPolicy: "balanced" },
  { backend: "cpu" },
  SHARED,
];

function run(options: { ms: number; seed: number }) {
  const outside = globalThis as unknown as Outside;
  let isOnGpu = false;
  let isShared = false;
  return soak(
    {
      numKinds: KINDS.length,
      open(kind, signal) {
        const config = { ...COMMON, ...KINDS[kind] };
        isOnGpu = config.backend === "webgpu";
        isShared = config.worker === "shared";
        return createEngine({ model: MODEL, ...config, ...(signal && { signal }) });
      },
      nowMs: () => performance.now(),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      loseDevice: async () => isOnGpu && (await outside.loseDevice()),
      hide: () => outside.hide(),
      async visit() {
        if (!isShared) return;
        const visitor = Object.assign(document.createElement("iframe"), { src: "?visitor" });
        document.body.append(visitor);
        await new Promise((resolve) => setTimeout(resolve, VISIT_MS));
        visitor.remove();
      },
      memory: () => outside.memory(),
      notify: (line) => console.info(line),
    },
    options,
  );
}

/** Asks, as another page that shares the engine, until that page is closed. */
async function askWithoutEnd() {
  const engine = await createEngine({ model: MODEL, ...COMMON, ...SHARED });
  const user = async () => {
    for (;;) await engine.completions.create({ prompt: [1, 2, 3], max_tokens: 100, ignore_eos: true });
  };
  await Promise.all([user(), user(), user()]);
}

if (location.search === "?visitor") void askWithoutEnd();
else Object.assign(globalThis, { run });
