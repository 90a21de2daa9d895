import type { DownloadProgress } from "../../protocol/models.ts";

/** The rate is measured over this window. */
const WINDOW_MS = 5000;
/** Rates over shorter times fluctuate too much. */
const SHORTEST_SAMPLE_MS = 500;
/** Minimum time between two calls of onProgress. */
const INTERVAL_MS = 100;
/** A silence of this length is reported as waiting. */
const SILENCE_MS = 3000;

/** Reports a download's progress. */
export class ProgressMeter {
  readonly #totalBytes: number;
  readonly #onProgress: (progress: DownloadProgress) => void;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #samples: { readonly atMs: number; readonly bytes: number }[];
  #receivedBytes: number;
  #reportedMs = -Infinity;
  #later: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(options: {
    totalBytes: number;
    /** Bytes stored before this download. They don't count for the rate. */
    receivedBytes: number;
    onProgress: (progress: DownloadProgress) => void;
    now?: () => number;
  }) {
    this.#totalBytes = options.totalBytes;
    this.#receivedBytes = options.receivedBytes;
    this.#onProgress = options.onProgress;
    this.#now = options.now ?? (() => performance.now());
    this.#samples = [{ atMs: this.#now(), bytes: options.receivedBytes }];
    this.#report(this.#now());
    this.#listenForSilence();
  }

  add(bytes: number): void {
    this.#receivedBytes += bytes;
    this.#listenForSilence();
    const nowMs = this.#now();
    const earlyMs = this.#reportedMs + INTERVAL_MS - nowMs;
    if (earlyMs > 0 && this.#receivedBytes < this.#totalBytes) {
      // Report later, even if no more bytes arrive.
      this.#later ??= setTimeout(() => this.#sample(this.#now()), earlyMs);
      return;
    }
    this.#sample(nowMs);
  }

  /** Stops all further reports. */
  close(): void {
    clearTimeout(this.#later);
    clearTimeout(this.#silence);
  }

  #listenForSilence(): void {
    clearTimeout(this.#silence);
    if (this.#receivedBytes < this.#totalBytes) {
      this.#silence = setTimeout(() => this.#report(this.#now(), { isWaiting: true }), SILENCE_MS);
    }
  }

  #sample(nowMs: number): void {
    clearTimeout(this.#later);
    this.#later = undefined;
    this.#samples.push({ atMs: nowMs, bytes: this.#receivedBytes });
    while (this.#samples[1] && this.#samples[1].atMs <= nowMs - WINDOW_MS) this.#samples.shift();
    this.#report(nowMs);
  }

  #report(nowMs: number, { isWaiting }: { isWaiting: boolean } = { isWaiting: false }): void {
    this.#reportedMs = nowMs;
    const [oldest] = this.#samples;
    const elapsedMs = oldest ? nowMs - oldest.atMs : 0;
    const bytesPerSecond =
      oldest && !isWaiting && elapsedMs >= SHORTEST_SAMPLE_MS
        ? (1000 * (this.#receivedBytes - oldest.bytes)) / elapsedMs
        : null;
    this.#onProgress({
      receivedBytes: this.#receivedBytes,
      totalBytes: this.#totalBytes,
      bytesPerSecond,
      secondsLeft: bytesPerSecond ? (this.#totalBytes - this.#receivedBytes) / bytesPerSecond : null,
      isWaiting,
    });
  }
}
