import { parseBackendChoice } from "../../api/engine-config.ts";
import { Trials } from "../../backends/trials.ts";
import type { BackendChoice, EngineConfig } from "../../protocol/config.ts";
import { ChorusError, toChorusError, type ChorusErrorCode } from "../../protocol/errors.ts";
import type { LoadProgress } from "../../protocol/reports.ts";
import { DeviceStalled } from "./load-guard.ts";
import { loadModel, type LoadedModel } from "./load-model.ts";
import type { ModelOrigin } from "./model-origin.ts";
import { openBackend, rememberGivenUp, type ChosenBackend } from "./open-backend.ts";
import type { Platform } from "../platforms/platform.ts";
import type { Texts } from "../text/texts.ts";

/** A backend whose device is lost this often within a minute, or in one load, is given up. */
const MAX_LOSSES = 3;
const LOSSES_WINDOW_MS = 60_000;
/** After a loss there may be no device for some seconds: pauses between attempts to open one, in milliseconds. */
const PAUSES_MS = [100, 250, 500, 1000, 2000, 4000, 8000];
/** A backend whose device gets stuck this often while a model is loaded, and no kernel is to blame, is given up. */
const MAX_STALLS = 2;
/** How a backend fails with a model that another one may load. */
const BACKENDS_OWN: readonly ChorusErrorCode[] = [
  "kernel_refused",
  "wrong_answers",
  "out_of_memory",
  "model_unsupported",
  "internal_error",
];

type OnProgress = (progress: LoadProgress) => void;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Keeps one model loaded: loads it again, from where it came, each time its device is lost. If the device is lost too often
 * or doesn't come back, the platform's next backend takes over.
 */
export class ModelLoader {
  readonly #origin: ModelOrigin;
  readonly #config: EngineConfig;
  readonly #platform: Platform;
  readonly #pause: (ms: number) => Promise<void>;
  readonly #choice: BackendChoice;
  /** The remaining backends, beginning with the one in use. */
  #backends: Platform["backends"];
  #adapterName = "";
  /** Settings that must not change when the model is loaded again. */
  #fixed: Pick<EngineConfig, "dtype" | "activationDtype" | "numGpuBlocks"> = {};
  /** When devices were lost, oldest first. */
  #lossesMs: number[] = [];
  #loaded: LoadedModel | null = null;
  /** Of the current load: kernels that are left out after a lost device. */
  #trials = new Trials();
  /** Results of the first load. They outlive a lost device. */
  #texts: Texts | null = null;
  /** Why a backend was given up or passed over. */
  #notice: string | null = null;
  #isClosed = false;

  constructor(origin: ModelOrigin, config: EngineConfig, platform: Platform, pause = sleep) {
    this.#origin = origin;
    this.#config = config;
    this.#platform = platform;
    this.#choice = parseBackendChoice(config.backend);
    this.#backends = platform.backends.filter(({ name }) => this.#choice === "auto" || name === this.#choice);
    this.#pause = pause;
  }

  /** The current runners; null while there is no device. */
  get loaded(): LoadedModel | null {
    return this.#loaded;
  }

  /** @throws ChorusError as loadModel does; device_lost if devices were lost too often */
  load(onProgress: OnProgress): Promise<LoadedModel> {
    return this.#load(onProgress, null);
  }

  /** Whether the model can be loaded again after an error of its backend. */
  outlives({ code }: ChorusError): boolean {
    return code === "device_lost" || this.#backends.length > 1;
  }

  /**
   * Loads the model on another device, with a cache of the same size.
   * @param loss why: a device was lost, or its backend can't go on
   * @throws ChorusError as loadModel does; device_lost if devices were lost too often
   */
  async reload(loss: ChorusError): Promise<LoadedModel> {
    const lost = this.#loaded;
    if (lost === null) throw new Error("reload() comes after load()");
    this.#free();
    const { dtype, activationDtype, numGpuBlocks } = lost.engineConfig;
    this.#fixed = { dtype, activationDtype, numGpuBlocks };
    if (loss.code === "device_lost") {
      this.#trials = this.#trials.afterLoss();
      this.#countLoss(loss);
    } else this.#giveUpBackend(loss);
    const model = await this.#load(() => undefined, loss);
    if (model.engineConfig.numGpuBlocks >= numGpuBlocks) return model;
    this.#free();
    throw new ChorusError("out_of_memory", `The new device has no room for the cache of ${numGpuBlocks} blocks.`);
  }

  /** Frees what is loaded, and what is being loaded as soon as it is. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#free();
    this.#texts?.dispose();
  }

  /** @param loss the last one; null before the first */
  async #load(onProgress: OnProgress, loss: ChorusError | null): Promise<LoadedModel> {
    const pauses = PAUSES_MS.values();
    let numStalls = 0;
    let numLosses = 0;
    for (;;) {
      // After a loss, wait for that backend's device: another backend would not give the same bits.
      const backends = loss === null ? this.#backends : this.#backends.slice(0, 1);
      const config = { ...this.#config, ...this.#fixed };
      try {
        // Before any download: without a backend none is needed.
        const chosen = await openBackend(backends, this.#choice, this.#platform, this.#trials);
        this.#passOver(chosen);
        const kept = { texts: this.#texts, trials: this.#trials };
        const loaded = await loadModel(chosen.opened, this.#origin, config, this.#platform, onProgress, kept);
        const { card, texts } = loaded;
        this.#texts = texts;
        if (chosen.hasFailedBefore) void rememberGivenUp(this.#platform, this.#adapterName, null);
        this.#loaded = { ...loaded, card: { ...card, notice: card.notice ?? this.#notice } };
        if (!this.#isClosed) return this.#loaded;
        this.close();
      } catch (error) {
        const failure = toChorusError(error);
        if (failure.code === "device_lost") this.#trials = this.#trials.afterLoss();
        const isUnexplained = failure instanceof DeviceStalled && this.#trials.isCareful;
        if (isUnexplained && ++numStalls % MAX_STALLS === 0) this.#giveUpForLong(failure);
        else if (failure.code === "device_lost") this.#countLoss((loss = failure), ++numLosses % MAX_LOSSES === 0);
        else if (failure.code === "webgpu_unavailable" && loss !== null) await this.#waitForDevice(pauses, failure);
        else if (isBackendsOwn(failure)) this.#giveUpBackend(failure);
        else throw this.#withNotice(failure);
      }
      if (this.#isClosed) throw new ChorusError("engine_disposed", "The engine was disposed of while it loaded.");
    }
  }

  /** Forgets the backends before the one that was opened. */
  #passOver({ opened, notice }: ChosenBackend): void {
    this.#notice ??= notice;
    this.#adapterName = opened.adapterName;
    this.#backends = this.#backends.slice(this.#backends.findIndex(({ name }) => name === opened.name));
  }

  /** @param endsLoad whether one load has lost as many as may be, however long it took */
  #countLoss(loss: ChorusError, endsLoad = false): void {
    const nowMs = this.#platform.now();
    this.#lossesMs = [...this.#lossesMs.filter((atMs) => nowMs - atMs < LOSSES_WINDOW_MS), nowMs];
    if (this.#lossesMs.length < MAX_LOSSES && !endsLoad) return;
    const when = endsLoad ? "while the model was loaded" : "within a minute";
    const message = `The device was lost ${MAX_LOSSES} times ${when}. ${loss.message}`;
    this.#giveUpForLong(new ChorusError("device_lost", message, null, { cause: loss }));
  }

  async #waitForDevice(pauses: Iterator<number, undefined>, reason: ChorusError): Promise<void> {
    const { value: pauseMs } = pauses.next();
    if (pauseMs !== undefined) return this.#pause(pauseMs);
    const message = `The device was lost, and no other one came in its place. ${reason.message}`;
    this.#giveUpBackend(new ChorusError("device_lost", message, null, { cause: reason }));
  }

  /** Goes on with the next backend, at later starts too. @throws reason if there is none */
  #giveUpForLong(reason: ChorusError): void {
    void rememberGivenUp(this.#platform, this.#adapterName, reason.message);
    this.#giveUpBackend(reason);
  }

  /** Goes on with the next backend. @throws reason if there is none */
  #giveUpBackend(reason: ChorusError): void {
    this.#backends = this.#backends.slice(1);
    if (this.#backends.length === 0) throw this.#withNotice(reason);
    this.#lossesMs = [];
    this.#notice = reason.message;
    const { dtype: _, ...others } = this.#fixed;
    this.#fixed = others; // it may keep weights in another way
  }

  #withNotice(reason: ChorusError): ChorusError {
    if (this.#notice === null || reason.message.includes(this.#notice)) return reason;
    const message = `${reason.message} Another backend was tried before: ${this.#notice}`;
    return new ChorusError(reason.code, message, reason.param, { cause: reason });
  }

  #free(): void {
    if (this.#loaded !== null) free(this.#loaded);
    this.#loaded = null;
  }
}

/** Sizes that the caller gave are the caller's fault: the error says which would fit. */
function isBackendsOwn({ code, param }: ChorusError): boolean {
  return BACKENDS_OWN.includes(code) && !(code === "out_of_memory" && param !== null && param !== "dtype");
}

function free({ runner, draft, backend, endDownload }: LoadedModel): void {
  endDownload();
  runner.dispose();
  draft?.runner.dispose();
  backend.close();
}
