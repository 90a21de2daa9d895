import type { OpenedBackend } from "../../backends/backend.ts";
import { causeOf, withFailureGuard } from "../../backends/backend-failure.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { withReportedReads } from "../../models/reported-reads.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { LoadProgress } from "../../protocol/reports.ts";
import { withStallTimeout } from "../../protocol/with-stall-timeout.ts";

/** A device that reports no progress for this long never will. Drivers take tens of seconds for a large kernel. */
const STALL_LIMIT_MS = 120_000;

export class DeviceStalled extends ChorusError {
  constructor(adapterName: string) {
    super(
      "device_lost",
      `${adapterName} made no progress for ${STALL_LIMIT_MS / 1000} seconds while it loaded the model.`,
    );
  }
}

/** Owns how a load ends: by a device that is lost or stuck, by an error, or by its caller. Frees what arrives after that. */
export class LoadGuard {
  readonly #backend: OpenedBackend;
  readonly #notify: (progress: LoadProgress) => void;
  /** Aborted when the load fails, or when its model is closed. A file's last bytes may arrive after the model is ready. */
  readonly #over = new AbortController();
  readonly #onFailure: (() => void)[] = [];
  #isLoaded = false;
  #countProgress = (): void => {};

  constructor(backend: OpenedBackend, notify: (progress: LoadProgress) => void) {
    this.#backend = backend;
    this.#notify = notify;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  readonly report = (progress: LoadProgress): void => {
    if (this.signal.aborted) return; // a load that has failed may go on for a while
    this.#countProgress();
    this.#notify(progress);
  };

  /** Reports nothing after the model is ready. */
  readonly reportFile = (progress: LoadProgress): void => {
    if (!this.#isLoaded) this.report(progress);
  };

  /**
   * Waits for the device, unless it is lost or gets stuck.
   * @param work reads weights by `read`, which ends with the load
   * @param dispose frees a result that arrives too late
   */
  wait<T>(work: (read: WeightsReader) => Promise<T>, dispose?: (late: T) => void): Promise<T> {
    const ending = new AbortController();
    const error = () => {
      const stalled = new DeviceStalled(this.#backend.adapterName);
      ending.abort(stalled);
      return stalled;
    };
    const read: WeightsReader = (weights, onRead) =>
      withReportedReads(weights, (bytes) => {
        ending.signal.throwIfAborted();
        this.signal.throwIfAborted();
        this.#countProgress();
        onRead(bytes);
      });
    return withStallTimeout(
      (count) => {
        this.#countProgress = count;
        return withFailureGuard(work(read), this.#backend);
      },
      { limitMs: STALL_LIMIT_MS, error, ...(dispose && { discard: dispose }) },
    );
  }

  /** Returns the promise, whose value is freed if the load fails, whenever it arrives. Its error is for who awaits it. */
  keep<T>(arriving: Promise<T>, dispose: (late: T) => void = () => undefined): Promise<T> {
    arriving.catch(() => undefined);
    this.#onFailure.push(() => void arriving.then(dispose).catch(() => undefined));
    return arriving;
  }

  /** Ends what is reported of files. */
  succeed(): void {
    this.#isLoaded = true;
  }

  /** Ends a download whose last bytes nobody reads. Idempotent. */
  readonly endDownload = (): void => this.#over.abort();

  /** Ends the load, frees what it has and what still arrives, closes the backend, and returns what lies behind the error. */
  async fail(error: unknown): Promise<ChorusError> {
    this.#over.abort(error);
    for (const free of this.#onFailure) free();
    const cause = await causeOf(this.#backend, error);
    this.#backend.close();
    return cause;
  }
}

/** Returns the same weights, which report the bytes of each read. */
export type WeightsReader = (weights: ModelWeights, onRead: (bytes: number) => void) => ModelWeights;
