// Listens to the WebGPU calls of an engine. So the benchmark measures the real dispatches of a step and needs no second list
// of them.

/** A pipeline, as an engine labels it: `matmul-lane {"K4":64,"SAMPLES_ONLY":1}`. */
export interface ObservedPipeline {
  readonly name: string;
  readonly constants: Readonly<Record<string, number>>;
}

export interface ObservedDispatch {
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: readonly [number, number, number];
}

export class GpuListener {
  readonly gpu: GPU;
  /** The device that was opened last. */
  device: GPUDevice | null = null;
  /** The dispatches of the last submit. */
  dispatches: readonly ObservedDispatch[] = [];
  readonly pipelines = new Map<GPUComputePipeline, ObservedPipeline>();
  readonly #bound = new Map<GPUBindGroup, readonly number[]>();
  #recorded: ObservedDispatch[] = [];
  #isOn = true;

  constructor(gpu: GPU) {
    const requestAdapter: GPU["requestAdapter"] = async (options) => {
      const adapter = await gpu.requestAdapter(options);
      if (!adapter) return null;
      const { features, limits, info } = adapter;
      const requestDevice = async (descriptor?: GPUDeviceDescriptor) =>
        this.#listenTo(await adapter.requestDevice(descriptor));
      return { features, limits, info, requestDevice } as unknown as GPUAdapter;
    };
    this.gpu = { requestAdapter } as GPU;
  }

  /** Returns the bytes of each buffer of a bind group, in the order of the bindings. */
  boundBytes(bindGroup: GPUBindGroup): readonly number[] {
    return this.#bound.get(bindGroup) ?? [];
  }

  /** Runs `work` without listening, such as a replay. */
  async deaf<T>(work: () => Promise<T>): Promise<T> {
    this.#isOn = false;
    try {
      return await work();
    } finally {
      this.#isOn = true;
    }
  }

  #listenTo(device: GPUDevice): GPUDevice {
    this.device = device;
    after(device, "createBindGroup", (bindGroup, { entries }) => {
      const bytes = Array.from(entries, ({ resource }) => bytesOf(resource));
      this.#bound.set(bindGroup, bytes);
    });
    after(device, "createComputePipelineAsync", (promise, { label = "" }) => {
      const [name = "", constants = "{}"] = label.split(" ");
      const values = { name, constants: JSON.parse(constants) as Record<string, number> };
      void promise.then((pipeline) => this.pipelines.set(pipeline, values));
    });
    after(device, "createCommandEncoder", (encoder) => {
      this.#recorded = [];
      if (this.#isOn) after(encoder, "beginComputePass", (pass) => this.#listenToPass(pass));
    });
    after(device.queue, "submit", () => {
      if (this.#recorded.length > 0) this.dispatches = this.#recorded;
    });
    return device;
  }

  #listenToPass(pass: GPUComputePassEncoder): void {
    let pipeline: GPUComputePipeline | null = null;
    let bindGroup: GPUBindGroup | null = null;
    after(pass, "setPipeline", (_, next) => (pipeline = next));
    after(pass, "setBindGroup", (_, index, next) => {
      if (index === 0) bindGroup = next ?? null;
    });
    after(pass, "dispatchWorkgroups", (_, x, y = 1, z = 1) => {
      if (pipeline && bindGroup) this.#recorded.push({ pipeline, bindGroup, workgroups: [x, y, z] });
    });
  }
}

type Method = (...args: never[]) => unknown;
type MethodsOf<Target> = { [Name in keyof Target]: Target[Name] extends Method ? Name : never }[keyof Target];

/** Calls a listener after each call of an object's method, with its result. */
function after<Target, Name extends MethodsOf<Target>>(
  target: Target,
  name: Name,
  listener: Target[Name] extends (...given: infer Args) => infer Result
    ? (result: Result, ...args: Args) => void
    : never,
): void {
  const method = target[name] as (...args: unknown[]) => unknown;
  target[name] = ((...args: unknown[]) => {
    const result = method.apply(target, args);
    (listener as (...values: unknown[]) => void)(result, ...args);
    return result;
  }) as Target[Name];
}

function bytesOf(resource: GPUBindingResource): number {
  if (resource instanceof GPUBuffer) return resource.size;
  return "buffer" in resource ? (resource.size ?? resource.buffer.size - (resource.offset ?? 0)) : 0;
}
