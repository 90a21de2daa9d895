// Compiling an engine's kernels is most of what opening one takes on a software adapter. Engines that share a device share
// what was compiled on it.

export interface SharedDevice {
  readonly gpu: GPU;
  /** Labels of the pipelines that were compiled: a kernel and its constants each. */
  readonly compiled: () => string[];
  readonly destroy: () => void;
}

/** WebGPU with one device for all who ask, one after the other or at once; it outlives the engines opened on it. */
export async function shareDevice(gpu: GPU = navigator.gpu): Promise<SharedDevice> {
  const adapter = await gpu.requestAdapter();
  if (!adapter) throw new Error("There is no adapter to test on.");
  let device: Promise<GPUDevice> | undefined;
  let destroy = () => {};
  const pipelines = new Map<string, Promise<GPUComputePipeline>>();

  const open = async (descriptor?: GPUDeviceDescriptor) => {
    const opened = await adapter.requestDevice(descriptor);
    const createModule = opened.createShaderModule.bind(opened);
    const compile = opened.createComputePipelineAsync.bind(opened);
    const codes = new WeakMap<GPUShaderModule, string>();
    destroy = opened.destroy.bind(opened);
    opened.createShaderModule = (description) => {
      const module = createModule(description);
      codes.set(module, description.code);
      return module;
    };
    opened.createComputePipelineAsync = (description) => {
      const key = `${description.label} ${codes.get(description.compute.module)}`;
      const pipeline = pipelines.get(key) ?? compile(description);
      pipelines.set(key, pipeline);
      return pipeline;
    };
    opened.destroy = () => undefined;
    return opened;
  };
  const requestDevice = (descriptor?: GPUDeviceDescriptor) => (device ??= open(descriptor));
  const { features, limits, info } = adapter;
  const { wgslLanguageFeatures } = gpu;
  const requestAdapter = () => Promise.resolve({ features, limits, info, requestDevice });
  return {
    gpu: { requestAdapter, wgslLanguageFeatures } as unknown as GPU,
    compiled: () => [...pipelines.keys()],
    destroy: () => destroy(),
  };
}
