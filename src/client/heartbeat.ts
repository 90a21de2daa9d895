const TICK_MS = 5000;
/** Longer gaps between ticks mean that the page was frozen, and count as this much. */
const MAX_TICK_MS = 2 * TICK_MS;
/** Compiling and parsing may keep a worker busy for seconds. */
const MAX_SILENCE_MS = 60_000;

/** Notices that the other side has stopped answering while calls are pending. */
export class Heartbeat {
  readonly #ping: () => Promise<unknown>;
  readonly #isAwaited: () => boolean;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setInterval> | null = null;
  #lastTickMs = 0;
  #silentMs = 0;
  #isPending = false;

  constructor(options: {
    /** Calls the other side, which resolves if it is alive. */
    readonly ping: () => Promise<unknown>;
    readonly isAwaited: () => boolean;
    /** Called once, when the other side counts as dead. */
    readonly onSilence: () => void;
  }) {
    this.#ping = options.ping;
    this.#isAwaited = options.isAwaited;
    this.#onSilence = options.onSilence;
  }

  /** Begins to watch. Stops by itself as soon as no call is pending. */
  start(): void {
    if (this.#timer !== null) return;
    this.#silentMs = 0;
    this.#lastTickMs = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    const nowMs = performance.now();
    const elapsedMs = Math.min(nowMs - this.#lastTickMs, MAX_TICK_MS);
    this.#lastTickMs = nowMs;
    if (!this.#isAwaited()) return this.stop();
    if (!this.#isPending) return this.#ask();
    this.#silentMs += elapsedMs;
    if (this.#silentMs < MAX_SILENCE_MS) return;
    this.stop();
    this.#onSilence();
  }

  #ask(): void {
    this.#isPending = true;
    const answered = () => {
      this.#isPending = false;
      this.#silentMs = 0;
    };
    this.#ping().then(answered, answered);
  }

  /** Stops until the next start(). Idempotent. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
