// Compiling an engine's kernels is most of what opening one takes on a software adapter, and a device has each of them
// compiled once.

import { afterAll } from "vitest";

/**
 * WebGPU with one device for all who ask, so that the engines of a test file, opened in the page (`worker: false`), find
 * their kernels compiled by those before them. It outlives them and is destroyed after the last test.
 */
export async function withOneDevice(gpu: GPU = navigator.gpu): Promise<GPU> {
  const adapter = await gpu.requestAdapter();
  if (!adapter) throw new Error("There is no adapter to test on.");
  let device: GPUDevice | undefined;
  let destroy = () => {};
  // A device keeps a compiled pipeline only while somebody holds it.
  const pipelines: GPUComputePipeline[] = [];

  const requestDevice = async (descriptor?: GPUDeviceDescriptor) => {
    if (device) return device;
    device = await adapter.requestDevice(descriptor);
    const compile = device.createComputePipelineAsync.bind(device);
    destroy = device.destroy.bind(device);
    device.createComputePipelineAsync = async (pipeline) => {
      const compiled = await compile(pipeline);
      pipelines.push(compiled);
      return compiled;
    };
    device.destroy = () => undefined;
    return device;
  };
  // Here, at the file's top: asked for in a group of tests, it would go with that group.
  afterAll(() => destroy());
  const { features, limits, info } = adapter;
  return { requestAdapter: () => Promise.resolve({ features, limits, info, requestDevice }) } as unknown as GPU;
}
