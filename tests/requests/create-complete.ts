import type { createEngine, CreateEngineOptions } from "../../src/index.ts";

/** Creates an engine on WebGPU and waits until all of its kernels are compiled, those too that the first step can do without. */
export async function createComplete(create: typeof createEngine, options: CreateEngineOptions) {
  const kernels = { missing: 0 };
  let notifyProgress = (): void => {};
  const engine = await create({
    ...options,
    backend: "webgpu",
    worker: false,
    onProgress({ stage, done, total }) {
      if (stage !== "kernels") return;
      kernels.missing = total - done;
      notifyProgress();
    },
  });
  while (kernels.missing > 0) await new Promise<void>((resolve) => (notifyProgress = resolve));
  return engine;
}
