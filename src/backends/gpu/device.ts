import { ChorusError, toChorusError } from "../../protocol/errors.ts";
import { BackendMissing } from "../backend.ts";
import { isFirefox } from "./is-firefox.ts";
import { QueuePoller } from "./queue-poller.ts";

const OPTIONAL_FEATURES: readonly GPUFeatureName[] = ["timestamp-query", "subgroups"];

/**
 * Limits that bound the sizes of a model and its cache. All others stay at WebGPU's defaults, so that a kernel that
 * compiles here compiles on every adapter.
 */
const RAISED_LIMITS = ["maxBufferSize", "maxStorageBufferBindingSize"] as const;

export interface OpenedDevice {
  readonly device: GPUDevice;
  /** Name for display: "Apple M3", "SwiftShader (software)". */
  readonly adapterName: string;
  /** Whether the adapter computes on the CPU, where workgroup memory and barriers are slow. */
  readonly isSoftware: boolean;
  /** Whether at least four neighbouring lanes can exchange values. */
  readonly hasSubgroups: boolean;
  readonly hasFewRegisters?: boolean;
  /** Whether WGSL has products of four bytes. [false] */
  readonly hasPackedDots?: boolean;
  /** Whether kernels get their short loops written out. [false] */
  readonly writesLoops?: boolean;
  /** Whether the adapter computes with halves, and so unpacks them in one instruction. */
  readonly hasHalves: boolean;
  /** Resolves when the device can't go on: lost (other than by close()), out of memory, or used wrongly by us. */
  readonly failure: Promise<ChorusError>;
  readonly poller: QueuePoller;
  close(): void;
}

/** Opens the best adapter. @throws BackendMissing if there is none; ChorusError webgpu_unavailable if it gives no device */
export async function openDevice(gpu: GPU | undefined): Promise<OpenedDevice> {
  if (!gpu) {
    throw new BackendMissing(
      "webgpu_unavailable",
      "This browser does not offer WebGPU (navigator.gpu is missing). The newest versions of Chrome, Edge, Firefox and Safari do.",
    );
  }
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) {
    throw new BackendMissing(
      "webgpu_unavailable",
      "This browser has WebGPU but found no graphics adapter for it. Turn on hardware acceleration, or update the graphics driver.",
    );
  }
  const { info } = adapter;
  const device = await requestDevice(adapter).catch((error: unknown) => {
    const message = `${nameOf(info)} gives no device: ${toChorusError(error).message}`;
    throw new ChorusError("webgpu_unavailable", message, null, { cause: error });
  });
  const writesLoops = isFirefox() && !isSoftware(info); // on the CPU they would compile for three times as long
  const { failure, close } = watch(device);
  return {
    device,
    adapterName: nameOf(info),
    isSoftware: isSoftware(info),
    hasSubgroups: device.features.has("subgroups") && (info.subgroupMinSize ?? 0) >= 4,
    hasFewRegisters: info.vendor === "intel" || writesLoops, // Firefox names no vendor
    hasPackedDots: hasPackedDots(gpu),
    writesLoops,
    hasHalves: adapter.features.has("shader-f16"),
    failure,
    poller: new QueuePoller(device.queue),
    close,
  };
}

/** Older browsers list no features. */
function hasPackedDots({ wgslLanguageFeatures }: Partial<Pick<GPU, "wgslLanguageFeatures">>): boolean {
  return wgslLanguageFeatures?.has("packed_4x8_integer_dot_product") ?? false;
}

async function requestDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  return adapter.requestDevice({
    label: "chorus",
    requiredFeatures: OPTIONAL_FEATURES.filter((feature) => adapter.features.has(feature)),
    requiredLimits: Object.fromEntries(RAISED_LIMITS.map((limit) => [limit, adapter.limits[limit]])),
  });
}

function watch(device: GPUDevice): Pick<OpenedDevice, "failure" | "close"> {
  let isClosed = false;
  const failure = new Promise<ChorusError>((resolve) => {
    void device.lost.then(({ message }) => {
      // A browser may destroy a device too, so the reason "destroyed" doesn't show who did.
      if (!isClosed) resolve(new ChorusError("device_lost", `The GPU was reset or taken away. ${message}`.trim()));
    });
    device.addEventListener("uncapturederror", ({ error }) => {
      // Compares names, since Node's WebGPU has no global classes.
      const code = error.constructor.name === "GPUOutOfMemoryError" ? "out_of_memory" : "internal_error";
      resolve(new ChorusError(code, `The GPU refused a command: ${error.message}`));
    });
  });
  const close = () => {
    isClosed = true;
    device.destroy();
  };
  return { failure, close };
}

function isSoftware(info: GPUAdapterInfo): boolean {
  return (
    info.isFallbackAdapter ||
    /swiftshader|llvmpipe|lavapipe|basic render/i.test(`${info.architecture} ${info.device} ${info.description}`)
  );
}

function nameOf(info: GPUAdapterInfo): string {
  const name = info.description || [info.vendor, info.architecture].filter(Boolean).join(" ") || "GPU";
  return isSoftware(info) ? `${name} (software)` : name;
}
