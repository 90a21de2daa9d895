import type { Backend, LoadedRunner, LoadOptions, OpenedBackend } from "../../src/backends/backend.ts";
import type { StepResult } from "../../src/engine/runner.ts";
import type { StepPlan } from "../../src/engine/step-plan.ts";
import type { OfferedBackend } from "../../src/host/platforms/platform.ts";
import type { BackendName } from "../../src/protocol/config.ts";
import { ChorusError } from "../../src/protocol/errors.ts";
import type { KernelTime } from "../../src/protocol/reports.ts";
import { FakeRunner } from "./fake-runner.ts";

type Fail = (error: ChorusError) => void;

/** A device without a GPU, which a test can take away. */
export class FakeDevice {
  readonly failure: Promise<ChorusError>;
  isClosed = false;
  /** Whether what was loaded on it was disposed of. */
  isDisposed = false;
  isLost = false;
  /** Steps that end; those after them never do. */
  numStepsLeft = Infinity;
  /** Says that it can't go on. */
  fail: Fail = () => undefined;

  constructor() {
    this.failure = new Promise((resolve) => (this.fail = resolve));
  }

  /** Takes the device away. Until it is said, only calls that fail tell. */
  lose({ isSaid = true } = {}): void {
    this.isLost = true;
    if (isSaid) this.fail(new ChorusError("device_lost", "Taken away by a test."));
  }
}

/** A backend whose devices compute with FakeRunners, a turn of the event loop per step. */
export class FakeBackend implements Backend {
  readonly name: BackendName;
  readonly memory = () => ({ weightBytes: 0, kvCacheBytes: 0 });
  readonly devices: FakeDevice[] = [];
  readonly adapterName: string;
  isSoftware = false;
  /** The defaults of its engines. */
  defaults: ReturnType<OpenedBackend["defaults"]> = { dtype: "f32" };
  /** Whether devices take what timing their kernels takes. */
  canTime = true;
  /** Whether the clock of timed steps goes forward. */
  hasClock = true;
  /** Attempts to open a device that fail. */
  numMissing = 0;
  /** Most blocks that there is memory for. */
  maxBlocks = Infinity;
  /** Called when a model begins to be loaded on a device. */
  onLoad: (device: FakeDevice, options: LoadOptions) => void | Promise<void> = () => undefined;
  /** Called when a loaded model may compile what its first step could do without. */
  onComplete: () => void = () => undefined;
  /** Returns the kernels whose answers have changed. */
  onRecheck: () => readonly string[] = () => [];
  /** Resolves when a step that begins now has been computed. */
  stepTime: (plan: StepPlan, isTimed: boolean) => Promise<void> = turn;
  /** The tokens that answers consist of, where they may. */
  script: readonly number[] = [];
  /** Resolves when steps may end. */
  gate: Promise<void> = Promise.resolve();

  constructor(name: BackendName, adapterName: string) {
    this.name = name;
    this.adapterName = adapterName;
  }

  /** The backend as a platform offers it. */
  get offered(): OfferedBackend {
    return { name: this.name, load: () => Promise.resolve(this) };
  }

  /** The newest device. */
  get device(): FakeDevice {
    const device = this.devices.at(-1);
    if (device === undefined) throw new Error("no device was opened");
    return device;
  }

  open(): Promise<OpenedBackend> {
    if (this.numMissing > 0) {
      this.numMissing -= 1;
      return Promise.reject(new ChorusError("webgpu_unavailable", "No adapter."));
    }
    const device = new FakeDevice();
    this.devices.push(device);
    return Promise.resolve({
      name: this.name,
      memory: this.memory,
      adapterName: this.adapterName,
      isSoftware: this.isSoftware,
      failure: device.failure,
      defaults: () => this.defaults,
      checkFits: () => undefined,
      load: (options) => this.#load(device, options),
      close: () => void (device.isClosed = true),
    });
  }

  async #load(device: FakeDevice, options: LoadOptions): Promise<LoadedRunner> {
    const { engine, weights } = options;
    await this.onLoad(device, options);
    await turn();
    // Chromium's message when its GPU process ends.
    if (device.isLost) throw new Error("Instance dropped error in getCompilationInfo");
    if (engine.numGpuBlocks > this.maxBlocks) throw new ChorusError("out_of_memory", "The fake device is full.");
    const runner = new FakeRunner({ ...engine, vocabSize: weights.model.shape.vocabSize, script: () => this.script });
    let isTiming = false;
    let numSteps = 0;
    return {
      weightBytes: 0,
      adapterName: this.adapterName,
      kernelNotes: ["matmul kernel: a fake (a test)"],
      submit: async (plan) => {
        const isTimed = isTiming && numSteps++ % TIMED_EVERY === 0;
        const result = await this.#submit(runner, device, plan, isTimed);
        return isTimed ? { ...result, kernels: this.hasClock ? ONE_KERNEL : [] } : result;
      },
      timeKernels: async (isRequested) => {
        isTiming = isRequested && this.canTime;
        numSteps = 0;
        return this.canTime;
      },
      complete: async (when) => {
        await when;
        this.onComplete();
        return [];
      },
      recheck: async () => this.onRecheck(),
      dispose: () => void (device.isDisposed = true),
    };
  }

  async #submit(runner: FakeRunner, device: FakeDevice, plan: StepPlan, isTimed: boolean): Promise<StepResult> {
    const result = runner.submit(plan);
    await this.stepTime(plan, isTimed);
    await this.gate;
    device.numStepsLeft -= 1;
    if (device.numStepsLeft < 0) return new Promise(() => undefined);
    if (device.isLost) throw new ChorusError("device_lost", "A step's device is gone.");
    return result;
  }
}

/** One step of so many is timed, as on a GPU. */
const TIMED_EVERY = 8;
const ONE_KERNEL: readonly KernelTime[] = [{ kernel: "embed", operation: "embed", startMs: 0, ms: 1 }];

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
