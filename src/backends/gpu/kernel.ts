import { ChorusError } from "../../protocol/errors.ts";

/**
 * A compute kernel as its WGSL file declares it: one entry point, one bind group whose bindings are listed in order, and
 * the override constants it must be given. A test holds every descriptor against its file.
 */
export interface Kernel<Binding extends string = string, Constant extends string = string> {
  /** File name without ".wgsl"; the entry point is the same with underscores. */
  readonly name: string;
  readonly code: string;
  /** Name and type of each binding of group 0, in the order of their numbers. */
  readonly bindings: readonly (readonly [name: Binding, type: GPUBufferBindingType])[];
  readonly constants: readonly Constant[];
}

export type KernelConstants<K extends Kernel> = Readonly<Record<K["constants"][number], number | boolean>>;
export type KernelBuffers<K extends Kernel> = Readonly<Record<K["bindings"][number][0], GPUBuffer | GPUBufferBinding>>;

/** Helpers are appended after the kernel, so that line numbers in compiler messages are those of its own file. */
export function defineKernel<const Binding extends string, const Constant extends string>(definition: {
  name: string;
  code: readonly string[];
  bindings: readonly (readonly [Binding, GPUBufferBindingType])[];
  constants: readonly Constant[];
}): Kernel<Binding, Constant> {
  return { ...definition, code: definition.code.join("\n") };
}

/** What decides how much of a kernel a step needs. */
export interface StepSize {
  readonly rows: number;
  readonly samples: number;
  /** Positions that a row attends to, at most. */
  readonly longest: number;
}

/** One kernel of a step, ready to be recorded: nothing about it is decided or created in the loop. */
export interface Dispatch {
  readonly name: string;
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: (step: StepSize) => readonly [x: number, y: number, z?: number];
}

/** Compiles kernels, each variant once, and binds their buffers. */
export class KernelCompiler {
  readonly #device: GPUDevice;
  readonly #layouts = new Map<
    Kernel,
    { module: GPUShaderModule; bindGroup: GPUBindGroupLayout; pipeline: GPUPipelineLayout }
  >();
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  readonly #onProgress: (compiled: number, total: number) => void;
  #compiled = 0;

  constructor(device: GPUDevice, onProgress: (compiled: number, total: number) => void = () => undefined) {
    this.#device = device;
    this.#onProgress = onProgress;
  }

  /** Throws internal_error with the compiler's words where the kernel does not compile: that is a bug of ours. */
  pipeline<K extends Kernel>(kernel: K, constants: KernelConstants<K>): Promise<GPUComputePipeline> {
    const values: Record<string, number> = {};
    for (const [name, value] of Object.entries<number | boolean>(constants)) values[name] = Number(value);
    const key = `${kernel.name} ${JSON.stringify(values)}`;
    let pipeline = this.#pipelines.get(key);
    if (!pipeline) {
      pipeline = this.#compile(kernel, values, key);
      this.#pipelines.set(key, pipeline);
    }
    return pipeline;
  }

  bind<K extends Kernel>(kernel: K, buffers: KernelBuffers<K>): GPUBindGroup {
    const bound: Readonly<Record<string, GPUBuffer | GPUBufferBinding>> = buffers;
    return this.#device.createBindGroup({
      label: kernel.name,
      layout: this.#layout(kernel).bindGroup,
      entries: kernel.bindings.map(([name], binding) => {
        const buffer = bound[name];
        if (!buffer) throw new ChorusError("internal_error", `kernel ${kernel.name} was given no buffer for "${name}"`);
        return { binding, resource: "buffer" in buffer ? buffer : { buffer } };
      }),
    });
  }

  async #compile(kernel: Kernel, constants: Record<string, number>, key: string): Promise<GPUComputePipeline> {
    const { module, pipeline: layout } = this.#layout(kernel);
    try {
      const pipeline = await this.#device.createComputePipelineAsync({
        label: key,
        layout,
        compute: { module, entryPoint: kernel.name.replaceAll("-", "_"), constants },
      });
      this.#onProgress(++this.#compiled, this.#pipelines.size);
      return pipeline;
    } catch (error) {
      const { messages } = await module.getCompilationInfo();
      const details = messages.map((m) => `${kernel.name}.wgsl:${m.lineNum}:${m.linePos} ${m.message}`).join("\n");
      throw new ChorusError("internal_error", `${key} does not compile: ${String(error)}\n${details}`, null, {
        cause: error,
      });
    }
  }

  #layout(kernel: Kernel) {
    let layout = this.#layouts.get(kernel);
    if (!layout) {
      const bindGroup = this.#device.createBindGroupLayout({
        label: kernel.name,
        entries: kernel.bindings.map(([, type], binding) => ({
          binding,
          visibility: GPUShaderStage.COMPUTE,
          buffer: { type },
        })),
      });
      layout = {
        module: this.#device.createShaderModule({ label: kernel.name, code: kernel.code }),
        bindGroup,
        pipeline: this.#device.createPipelineLayout({ label: kernel.name, bindGroupLayouts: [bindGroup] }),
      };
      this.#layouts.set(kernel, layout);
    }
    return layout;
  }
}
