import { hexDigest } from "../../files/hex-digest.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { LoadOptions } from "../backend.ts";
import { Trials } from "../trials.ts";
import type { OpenedDevice } from "./device.ts";
import { BufferUsage, COMPUTE_STAGE, MAP_READ } from "./flags.ts";
import type { Kernel } from "./define-kernel.ts";
import { QueuePoller } from "./queue-poller.ts";
import { specialise } from "./specialise.ts";

export type KernelConstants = Readonly<Record<string, number | boolean>>;
export type KernelBuffers = Readonly<Record<string, GPUBuffer | GPUBufferBinding>>;

export interface KernelVariant {
  readonly kernel: Kernel;
  readonly constants: KernelConstants;
}

export function variantOf(kernel: Kernel, constants: KernelConstants): KernelVariant {
  return { kernel, constants };
}

/** The sizes of a step that determine its workgroups. */
export interface StepSize {
  readonly rows: number;
  readonly sequences: number;
  readonly samples: number;
  /** Number of spans of several rows that attention computes together, and of rows that it computes one by one. */
  readonly tiles: number;
  readonly singles: number;
  /** Maximum number of positions that a row attends to. */
  readonly longest: number;
}

/** Returns the size of a step of these rows for products and norms: each row has a sample. */
export const sizeOf = (rows: number): StepSize => ({
  rows,
  sequences: 0,
  samples: rows,
  tiles: 0,
  singles: 0,
  longest: 0,
});

/** One kernel of a step, ready to be recorded. */
export interface Dispatch {
  readonly name: string;
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: (step: StepSize) => readonly [x: number, y: number, z?: number];
}

interface BoundKernel extends KernelVariant, Pick<Dispatch, "name" | "workgroups"> {
  readonly buffers: KernelBuffers;
}

export function encode(pass: GPUComputePassEncoder, { pipeline, bindGroup, workgroups }: Dispatch, step: StepSize) {
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, bindGroup);
  const [x, y, z] = workgroups(step);
  pass.dispatchWorkgroups(x, y, z);
}

/** Returns `matmul-lane {"K4":64,"SAMPLES_ONLY":1}`, for error messages, profilers and the benchmark, which parses it. */
function pipelineLabel(kernel: Kernel, constants: KernelConstants): string {
  const values = Object.entries(constants).map(([name, value]) => [name, Number(value)]);
  return `${kernel.name} ${JSON.stringify(Object.fromEntries(values))}`;
}

/** Constants in a label that a kernel has for one product. What is bad with one is bad with others. */
const OF_ONE_PRODUCT = /"(?:K4|N4|Y4|SAMPLES_ONLY|EPILOGUE)":\d+,?/g;

/** Of shaders/lib/half.wgsl. */
const FLUSHES = /^(const FLUSHES_HALVES) = false;/m;

interface KernelCompilerOptions extends Partial<Pick<OpenedDevice, "adapterName" | "failure" | "writesLoops">> {
  readonly onKernel?: LoadOptions["onKernel"] | undefined;
  readonly trials?: Trials | undefined;
  /** Whether kernels widen halves by integer arithmetic. [false] */
  readonly flushesHalves?: boolean;
}

interface Layout {
  readonly bindGroup: GPUBindGroupLayout;
  readonly pipeline: GPUPipelineLayout;
}

/** Compiles each variant of a kernel once, from its own specialised text, and binds buffers. */
export class KernelCompiler {
  readonly #device: GPUDevice;
  readonly #layouts = new Map<Kernel, Layout>();
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  /** Text of each pipeline, by its label. */
  readonly #codes = new Map<string, string>();
  readonly #adapterName: string;
  readonly #onProgress: (compiled: number, total: number) => void;
  readonly #flushesHalves: boolean;
  readonly #writesLoops: boolean;
  readonly trials: Trials;
  readonly #failure: OpenedDevice["failure"];
  readonly #ready = new Set<string>();
  #countsPrepared = false;

  constructor(
    device: GPUDevice,
    {
      adapterName = "the adapter",
      onKernel,
      trials,
      failure,
      flushesHalves = false,
      writesLoops = false,
    }: KernelCompilerOptions = {},
  ) {
    this.#device = device;
    this.#adapterName = adapterName;
    this.#onProgress = onKernel ?? (() => undefined);
    this.trials = trials ?? new Trials();
    this.#failure = failure ?? new Promise(() => undefined);
    this.#flushesHalves = flushesHalves;
    this.#writesLoops = writesLoops;
  }

  async dispatch({ name, kernel, constants, buffers, workgroups }: BoundKernel): Promise<Dispatch> {
    const pipeline = await this.compile({ kernel, constants });
    return { name, pipeline, bindGroup: this.bind(kernel, buffers), workgroups };
  }

  /** Throws kernel_refused with the compiler's messages if the kernel does not compile. */
  async compile(variant: KernelVariant): Promise<GPUComputePipeline> {
    const { label, compile } = this.prepare(variant);
    return this.prove(label, compile).finally(() => this.noteReady(label));
  }

  /** Makes a variant's text. The caller decides when it is compiled, and reports when it is ready. */
  prepare({ kernel, constants }: KernelVariant): { label: string; compile: () => Promise<GPUComputePipeline> } {
    const label = pipelineLabel(kernel, constants);
    if (!this.#codes.has(label)) {
      const code = specialise(kernel, constants, this.#writesLoops);
      this.#codes.set(label, this.#flushesHalves ? code.replace(FLUSHES, "$1 = true;") : code);
    }
    const compile = () => {
      const pipeline = this.#pipelines.get(label) ?? this.#compile(kernel, label);
      this.#pipelines.set(label, pipeline);
      return pipeline;
    };
    return { label, compile };
  }

  /** Compiles and uses a kernel that others could stand in for. @throws as `trial`; KernelLeftOut */
  tryOut<T>({ kernel, constants }: KernelVariant, trial: () => Promise<T>): Promise<T> {
    const label = pipelineLabel(kernel, constants);
    return this.trials.run(label.replaceAll(OF_ONE_PRODUCT, ""), { failure: this.#failure }, trial);
  }

  /** Compiles or uses a kernel that is needed, by its pipeline's label. @throws as `work`; KernelLeftOut */
  prove<T>(label: string, work: () => Promise<T>): Promise<T> {
    return this.trials.prove(label.replaceAll(OF_ONE_PRODUCT, ""), { failure: this.#failure }, work);
  }

  /** Submits what runs a kernel that is needed. @throws as `prove` */
  proveRun(label: string, submit: () => void): Promise<void> {
    return this.prove(label, async () => {
      submit();
      if (this.trials.isCareful) await readNothing(this.#device);
    });
  }

  bind(kernel: Kernel, buffers: KernelBuffers): GPUBindGroup {
    return this.#device.createBindGroup({
      label: kernel.name,
      layout: this.#layout(kernel).bindGroup,
      entries: kernel.bindings.map(([name], binding) => {
        const buffer = buffers[name];
        if (!buffer) throw new ChorusError("internal_error", `kernel ${kernel.name} was given no buffer for "${name}"`);
        return { binding, resource: "buffer" in buffer ? buffer : { buffer } };
      }),
    });
  }

  /** Counts a pipeline whose compilation has ended, well or not. */
  noteReady(label: string): void {
    if (this.#ready.has(label)) return;
    this.#ready.add(label);
    this.#notifyProgress();
  }

  /** Lets progress count prepared pipelines too, from now on, and not only those being compiled. */
  countPrepared(): void {
    this.#countsPrepared = true;
    this.#notifyProgress();
  }

  /** Returns a hash of the text of every pipeline so far, compiled or not. */
  async id(): Promise<string> {
    const codes = [...this.#codes].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, code]) => code);
    return hexDigest("SHA-256", new TextEncoder().encode(codes.join("\0")));
  }

  async #compile(kernel: Kernel, label: string): Promise<GPUComputePipeline> {
    const code = this.#codes.get(label) ?? "";
    // The error below reports an invalid module. Without this scope it would also be an uncaught error.
    this.#device.pushErrorScope("validation");
    const module = this.#device.createShaderModule({ label, code });
    const refusal = this.#device.popErrorScope();
    try {
      const pipeline = await this.#device.createComputePipelineAsync({
        label,
        layout: this.#layout(kernel).pipeline,
        compute: { module, entryPoint: kernel.name.replaceAll("-", "_") },
      });
      if (this.trials.isCareful) await readNothing(this.#device);
      return pipeline;
    } catch (error) {
      const { messages } = await module.getCompilationInfo();
      await readNothing(this.#device);
      const words = [(await refusal)?.message, error instanceof Error ? error.message : String(error)]
        .concat(messages.map((m) => `${kernel.name}.wgsl:${m.lineNum}:${m.linePos} ${m.message}`))
        .filter((line) => line);
      throw new ChorusError(
        "kernel_refused",
        `${this.#adapterName} does not compile the kernel ${label}: ${words.join("\n")}`,
        null,
        { cause: error },
      );
    }
  }

  #notifyProgress(): void {
    this.#onProgress(this.#ready.size, this.#countsPrepared ? this.#codes.size : this.#pipelines.size);
  }

  #layout(kernel: Kernel): Layout {
    const known = this.#layouts.get(kernel);
    if (known) return known;
    const { name: label } = kernel;
    const entries = kernel.bindings.map(([, type], binding) => ({
      binding,
      visibility: COMPUTE_STAGE,
      buffer: { type },
    }));
    const bindGroup = this.#device.createBindGroupLayout({ label, entries });
    const pipeline = this.#device.createPipelineLayout({ label, bindGroupLayouts: [bindGroup] });
    const layout = { bindGroup, pipeline };
    this.#layouts.set(kernel, layout);
    return layout;
  }
}

/** Rejects where the device is lost. It takes or refuses kernels before it says so, but gives nothing to read. */
async function readNothing(device: GPUDevice): Promise<void> {
  const buffer = device.createBuffer({ size: 4, usage: BufferUsage.MAP_READ | BufferUsage.COPY_DST });
  device.queue.writeBuffer(buffer, 0, new Uint32Array(1));
  device.queue.submit([]);
  await new QueuePoller(device.queue).settled(buffer.mapAsync(MAP_READ)).finally(() => buffer.destroy());
}
