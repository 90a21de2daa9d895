// This browser's WebGPU, tampered with. Nothing of a test runner is imported: a bare page may import it, too.

/** The name of an adapter that pretends to be hardware. */
export const PRETENDED_ADAPTER = "pretended";

interface Tampering {
  /** The adapter denies that it is software. */
  readonly pretendHardware?: boolean;
  /** The adapter has no optional feature. */
  readonly noFeatures?: boolean;
  /** The adapter's limits are those that WebGPU grants everybody. */
  readonly defaultLimits?: boolean;
  /** Hears the name of each call of the device and its queue. */
  readonly onCall?: (name: string) => void;
  /** Gets each device before the engine does. */
  readonly onDevice?: (device: GPUDevice) => void;
}

/** WebGPU's default limits that the engine reads. The device itself has all of them at their defaults. */
const DEFAULT_LIMITS = { maxBufferSize: 2 ** 28, maxStorageBufferBindingSize: 2 ** 27 };

/** What every adapter has, and no more. */
export const BARE: Tampering = { noFeatures: true, defaultLimits: true };

export function tampered(
  { pretendHardware = false, noFeatures = false, defaultLimits = false, onCall, onDevice }: Tampering,
  gpu: GPU = navigator.gpu,
): GPU {
  const requestDevice = async (adapter: GPUAdapter, descriptor?: GPUDeviceDescriptor) => {
    const device = await adapter.requestDevice(descriptor);
    if (onCall) {
      for (const target of [device, device.queue]) tellCalls(target, onCall);
    }
    onDevice?.(device);
    return device;
  };
  const requestAdapter = async (options?: GPURequestAdapterOptions) => {
    const adapter = await gpu.requestAdapter(options);
    return (
      adapter && {
        features: noFeatures ? new Set() : adapter.features,
        limits: defaultLimits ? DEFAULT_LIMITS : adapter.limits,
        info: pretendHardware ? { vendor: "", architecture: "", description: PRETENDED_ADAPTER } : adapter.info,
        requestDevice: (descriptor?: GPUDeviceDescriptor) => requestDevice(adapter, descriptor),
      }
    );
  };
  return { requestAdapter } as unknown as GPU;
}

/** Puts a method of the object's own before each of its prototype's. */
function tellCalls(target: object, onCall: (name: string) => void): void {
  const prototype = Object.getPrototypeOf(target) as object;
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (typeof value !== "function" || name === "constructor") continue;
    const method = value as (...args: unknown[]) => unknown;
    Object.defineProperty(target, name, {
      value: (...args: unknown[]) => {
        onCall(name);
        return method.apply(target, args);
      },
    });
  }
}
