import type { Backend } from "../backend.ts";
import { openDevice } from "./device.ts";
import { flushesHalves } from "./flushed-halves.ts";
import { GpuRunner } from "./gpu-runner.ts";
import { checkFits, modelMemory } from "./memory.ts";
import { defaultDtype } from "./default-dtype.ts";

/** Returns the WebGPU backend on any implementation: a browser's, or Dawn in Node. */
export function webGpuBackend(gpu: GPU | undefined): Backend {
  const backend = { name: "webgpu", memory: modelMemory } as const;
  return {
    ...backend,
    async open(trials) {
      const opened = await openDevice(gpu);
      const isFlushing = flushesHalves(opened, trials); // known before a model's files are
      return {
        ...backend,
        adapterName: opened.adapterName,
        isSoftware: opened.isSoftware,
        failure: opened.failure,
        defaults: (model) => ({ dtype: defaultDtype(model, opened) }),
        checkFits: (model, engine) => checkFits(model, engine, opened.device.limits),
        load: (options) => GpuRunner.create({ ...options, opened, isFlushing }),
        close: () => opened.close(),
      };
    },
  };
}
