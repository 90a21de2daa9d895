// A driver whose kernels become wrong while an engine runs: one in which two additions are swapped takes a kernel's place.

import { expect, it } from "vitest";

import { differingWords, openTestDevice } from "../../../tests/gpu/gpu.ts";
import { createRunner, lastLogits } from "../../../tests/gpu/runner-runs.ts";
import { loadGolden } from "../../../tests/models/golden.ts";

const opened = await openTestDevice();
const { device } = opened;
const { weights } = await loadGolden("gpt2-tiny");
const { vocabSize } = weights.model.shape;

type SetPipeline = (this: GPUComputePassEncoder, pipeline: GPUComputePipeline) => undefined;

/** Lets kernels be replaced by others in every pass, once `isPlanted`. */
function plant(kernel: string, change: (code: string) => string) {
  const planted = { isPlanted: false };
  const wrong = new Map<GPUComputePipeline, GPUComputePipeline>();
  const codes = new WeakMap<GPUShaderModule, string>();
  // The common device compiles in its own way.
  const own: object = Object.assign({}, device);
  const createModule = device.createShaderModule.bind(device);
  const compile = device.createComputePipelineAsync.bind(device);
  const prototype: { setPipeline: SetPipeline } = GPUComputePassEncoder.prototype;
  const { setPipeline } = prototype;
  device.createShaderModule = (descriptor) => {
    const module = createModule(descriptor);
    codes.set(module, descriptor.code);
    return module;
  };
  device.createComputePipelineAsync = async (descriptor) => {
    const pipeline = await compile(descriptor);
    const { label = "", compute } = descriptor;
    if (!label.startsWith(`${kernel} `)) return pipeline;
    const code = change(codes.get(compute.module) ?? "");
    const module = createModule({ label, code });
    wrong.set(pipeline, await compile({ ...descriptor, compute: { ...compute, module } }));
    return pipeline;
  };
  prototype.setPipeline = function (pipeline): undefined {
    setPipeline.call(this, (planted.isPlanted && wrong.get(pipeline)) || pipeline);
  };
  const end = () => {
    Object.assign(device, own);
    prototype.setPipeline = setPipeline;
  };
  return { planted, end };
}

const [SECOND, THIRD] = ["fma(weights.k1, vec4(input.y)", "fma(weights.k2, vec4(input.z)"];

it("a kernel in which two additions are swapped later is noticed, and no longer used", async () => {
  const { planted, end } = plant("matmul-lane", (code) => {
    expect(code).toContain(SECOND);
    return code.replace(SECOND, "SECOND").replace(THIRD, SECOND).replace("SECOND", THIRD);
  });
  try {
    const runner = await createRunner(opened, weights);
    const logits = async () => (await lastLogits(opened, runner, [3, 1, 4], vocabSize)).slice().buffer;
    const right = await logits();
    expect(await runner.recheck()).toEqual([]);
    planted.isPlanted = true;
    expect(differingWords(await logits(), right)).toBeGreaterThan(0);
    const changed = await runner.recheck();
    expect(changed.length).toBeGreaterThan(0);
    for (const kernel of changed) expect(kernel).toMatch(/^matmul-lane .*: its answers are others than before$/);
    expect(differingWords(await logits(), right)).toBe(0);
    runner.dispose();
  } finally {
    end();
  }
});
