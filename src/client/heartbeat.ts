const TICK_MS = 5000;
/** Compiling and parsing may keep a worker busy for seconds. */
const MAX_SILENCE_MS = 60_000;

interface HeartbeatOptions {
  readonly ping: () => Promise<unknown>;
  readonly isAwaited: () => boolean;
  /** Called once, when the other side counts as dead. */
  readonly onSilence: () => void;
}

/** Notices that the other side has stopped answering while calls are pending. Counts ticks: no time passes in a frozen page. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: ReturnType<typeof setInterval> | null = null;
  #silentMs = 0;
  #isPending = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Begins to watch. Stops by itself as soon as no call is pending. */
  start(): void {
    if (this.#timer !== null) return;
    this.#silentMs = 0;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    if (!this.#options.isAwaited()) return this.stop();
    if (!this.#isPending) return this.#ask();
    this.#silentMs += TICK_MS;
    if (this.#silentMs < MAX_SILENCE_MS) return;
    this.stop();
    this.#options.onSilence();
  }

  #ask(): void {
    this.#isPending = true;
    const answered = () => {
      this.#isPending = false;
      this.#silentMs = 0;
    };
    this.#options.ping().then(answered, answered);
  }

  /** Stops until the next start(). Idempotent. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
