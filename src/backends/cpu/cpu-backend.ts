import { requireWasm } from "../../protocol/require-wasm.ts";
import { BackendMissing, type Backend } from "../backend.ts";
import { CpuRunner, type CpuThreads } from "./cpu-runner.ts";
import { detectFeatures, type CpuFeatures } from "./features.ts";
import { detectIntegerDots } from "./integer-dots.ts";
import { checkFits, modelMemory } from "./memory.ts";

/**
 * Weights up to this size stay in f32: the last cache holds much of them, and a step waits for arithmetic. A larger model
 * waits for memory: in halves one sequence is a third faster and eight a tenth slower, and half the memory suffices.
 */
const MAX_WHOLE_BYTES = 2 ** 28;
/**
 * Default rows of a step. A prompt's step delays others, and messages (also aborts). Steps of more rows read the weights less
 * often, but compute a prompt hardly faster.
 */
const DEFAULT_ROWS = 64;

/** WebAssembly on this machine's processor. */
export function cpuBackend(threads: CpuThreads, features: CpuFeatures = detectFeatures()): Backend {
  const backend = { name: "cpu", memory: modelMemory } as const;
  return {
    ...backend,
    async open() {
      if (!features.hasSimd) throw noSimd();
      await requireWasm();
      const { hasRelaxedSimd } = features;
      const integerDots = hasRelaxedSimd ? await detectIntegerDots() : "plain";
      return {
        ...backend,
        adapterName: "CPU",
        isSoftware: false,
        failure: new Promise<never>(() => undefined),
        defaults(model) {
          const sizes = { kvCacheDtype: "f16", numGpuBlocks: 0, blockSize: 16, maxNumSeqs: 0 } as const;
          const isSmall = modelMemory(model, { ...sizes, dtype: "f32" }).weightBytes <= MAX_WHOLE_BYTES;
          return { dtype: isSmall ? "f32" : "f16", activationDtype: "int8", maxNumBatchedTokens: DEFAULT_ROWS };
        },
        checkFits: (model, engine) => checkFits(model, engine, engine.cpuThreads ?? threads.most),
        load: ({ weights, engine, onKernel }) => {
          const cpuMath = hasRelaxedSimd ? engine.cpuMath : "portable";
          const options = { weights, engine: { ...engine, cpuMath }, integerDots, ...(onKernel && { onKernel }) };
          return CpuRunner.create(options, threads);
        },
        close: () => undefined,
      };
    },
  };
}

function noSimd(): BackendMissing {
  return new BackendMissing(
    "wasm_unavailable",
    "This browser's WebAssembly can't compute with vectors (SIMD). Chrome, Edge, Firefox and Safari can in versions of 2023 and later.",
  );
}
