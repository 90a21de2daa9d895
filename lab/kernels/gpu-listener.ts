// Listens to the WebGPU calls of an engine in this thread. So the benchmark measures the real dispatches of a step and
// needs no second list of them.

/** A pipeline, as an engine labels it: `matmul-lane {"K4":64,"SAMPLES_ONLY":1}`. */
export interface ObservedPipeline {
  /** The kernel's name. */
  readonly name: string;
  readonly constants: Readonly<Record<string, number>>;
}

export interface ObservedDispatch {
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: readonly [number, number, number];
}

export class GpuListener {
  /** The device that was used last. */
  device: GPUDevice | null = null;
  /** The dispatches of the last submit. */
  dispatches: readonly ObservedDispatch[] = [];
  readonly pipelines = new Map<GPUComputePipeline, ObservedPipeline>();
  readonly #bound = new Map<GPUBindGroup, readonly number[]>();
  readonly #untouched = [GPUDevice, GPUQueue, GPUComputePassEncoder].map(
    ({ prototype }) => [prototype, Object.getOwnPropertyDescriptors(prototype)] as const,
  );
  #isOn = true;

  constructor() {
    this.#listenToDevice();
    this.#listenToPasses();
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

  /** Leaves WebGPU as it was. */
  close(): void {
    for (const [prototype, methods] of this.#untouched) Object.defineProperties(prototype, methods);
    this.forget();
  }

  forget(): void {
    this.device = null;
    this.dispatches = [];
    this.pipelines.clear();
    this.#bound.clear();
  }

  #listenToDevice(): void {
    const { prototype } = GPUDevice;
    after(prototype, "createBuffer", (device) => {
      this.device = device;
    });
    after(prototype, "createBindGroup", (_, bindGroup, { entries }) => {
      this.#bound.set(
        bindGroup,
        Array.from(entries, ({ resource }) => bytesOf(resource)),
      );
    });
    after(prototype, "createComputePipelineAsync", (_, promise, { label = "" }) => {
      if (!this.#isOn) return;
      const [name = "", constants = "{}"] = label.split(" ");
      const values = { name, constants: JSON.parse(constants) as Record<string, number> };
      void promise.then((pipeline) => this.pipelines.set(pipeline, values));
    });
  }

  #listenToPasses(): void {
    const { prototype } = GPUComputePassEncoder;
    let pipeline: GPUComputePipeline | null = null;
    let bindGroup: GPUBindGroup | null = null;
    let recorded: ObservedDispatch[] = [];
    after(GPUDevice.prototype, "createCommandEncoder", () => {
      recorded = [];
    });
    after(GPUQueue.prototype, "submit", () => {
      if (this.#isOn && recorded.length > 0) this.dispatches = recorded;
    });
    after(prototype, "setPipeline", (_, __, next) => {
      pipeline = next;
    });
    after(prototype, "setBindGroup", (_, __, index, next) => {
      if (index === 0) bindGroup = next ?? null;
    });
    after(prototype, "dispatchWorkgroups", (_, __, x, y = 1, z = 1) => {
      if (this.#isOn && pipeline && bindGroup) recorded.push({ pipeline, bindGroup, workgroups: [x, y, z] });
    });
  }
}

type Method = (...args: never[]) => unknown;
type MethodsOf<Target> = { [Name in keyof Target]: Target[Name] extends Method ? Name : never }[keyof Target];

/** Calls a listener after each call of the method, with its result. */
function after<Target, Name extends MethodsOf<Target>>(
  prototype: Target,
  name: Name,
  listener: Target[Name] extends (...given: infer Args) => infer Result
    ? (self: Target, result: Result, ...args: Args) => void
    : never,
): void {
  const method = prototype[name] as (...args: unknown[]) => unknown;
  prototype[name] = function (this: Target, ...args: unknown[]) {
    const result = method.apply(this, args);
    (listener as (...values: unknown[]) => void)(this, result, ...args);
    return result;
  } as Target[Name];
}

function bytesOf(resource: GPUBindingResource): number {
  if (resource instanceof GPUBuffer) return resource.size;
  return "buffer" in resource ? (resource.size ?? resource.buffer.size - (resource.offset ?? 0)) : 0;
}
