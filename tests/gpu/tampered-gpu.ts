// This browser's WebGPU, tampered with. Nothing of a test runner is imported: a bare page may import it, too.

/** The name of an adapter that pretends to be hardware. */
export const PRETENDED_ADAPTER = "pretended";

interface Tampering {
  /** The adapter denies that it is software. */
  readonly pretendHardware?: boolean;
  /** The adapter's name: what is remembered of it is remembered of no other. */
  readonly name?: string;
  /** The adapter has no optional feature. */
  readonly noFeatures?: boolean;
  /** The adapter's limits are those that WebGPU grants everybody. */
  readonly defaultLimits?: boolean;
  /** Gets each device before the engine does. */
  readonly onDevice?: (device: GPUDevice) => void;
}

/** WebGPU's default limits that the engine reads. The device itself has all of them at their defaults. */
const DEFAULT_LIMITS = { maxBufferSize: 2 ** 28, maxStorageBufferBindingSize: 2 ** 27 };

/** The limits that every adapter has. */
export const BARE: Tampering = { noFeatures: true, defaultLimits: true };

export function tampered(
  { pretendHardware = false, name, noFeatures = false, defaultLimits = false, onDevice }: Tampering,
  gpu: GPU = navigator.gpu,
): GPU {
  const requestDevice = async (adapter: GPUAdapter, descriptor?: GPUDeviceDescriptor) => {
    const device = await adapter.requestDevice(descriptor);
    onDevice?.(device);
    return device;
  };
  const requestAdapter = async (options?: GPURequestAdapterOptions) => {
    const adapter = await gpu.requestAdapter(options);
    return (
      adapter && {
        features: noFeatures ? new Set() : adapter.features,
        limits: defaultLimits ? DEFAULT_LIMITS : adapter.limits,
        info: pretendHardware
          ? { vendor: "", architecture: "", description: name ?? PRETENDED_ADAPTER }
          : named(adapter.info, name),
        requestDevice: (descriptor?: GPUDeviceDescriptor) => requestDevice(adapter, descriptor),
      }
    );
  };
  const wgslLanguageFeatures = noFeatures ? undefined : gpu.wgslLanguageFeatures;
  return { requestAdapter, wgslLanguageFeatures } as unknown as GPU;
}

function named(info: GPUAdapterInfo, name: string | undefined): Partial<GPUAdapterInfo> {
  const { vendor, architecture, device, isFallbackAdapter, subgroupMinSize, subgroupMaxSize } = info;
  const description = name ?? info.description;
  return { vendor, architecture, device, description, isFallbackAdapter, subgroupMinSize, subgroupMaxSize };
}

/** Makes createBuffer throw where a device's buffers would take more than `limitBytes`. Returns what is in use. */
export function limitMemory(device: GPUDevice, limitBytes: number): { readonly usedBytes: () => number } {
  let usedBytes = 0;
  const create = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    if (usedBytes + descriptor.size > limitBytes) throw new RangeError("Failed to execute 'createBuffer'");
    const buffer = create(descriptor);
    const destroy = buffer.destroy.bind(buffer);
    let bytes = buffer.size;
    usedBytes += bytes;
    buffer.destroy = () => {
      usedBytes -= bytes;
      bytes = 0;
      destroy();
    };
    return buffer;
  };
  return { usedBytes: () => usedBytes };
}

/** Makes a device compile other kernels than it is given. */
export function miscompile(device: GPUDevice, change: (label: string, code: string) => string): void {
  const create = device.createShaderModule.bind(device);
  device.createShaderModule = (descriptor) =>
    create({ ...descriptor, code: change(descriptor.label ?? "", descriptor.code) });
}

/** Makes a device's pipelines wait before they are compiled; where the wait rejects, the pipeline is refused. */
export function compileAfter(device: GPUDevice, wait: (label: string) => Promise<void> | undefined): void {
  const create = device.createComputePipelineAsync.bind(device);
  device.createComputePipelineAsync = async (descriptor) => {
    await wait(descriptor.label ?? "");
    return create(descriptor);
  };
}
