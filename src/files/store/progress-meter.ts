import type { DownloadProgress } from "../../protocol/models.ts";

/** The rate is measured over this window. */
const WINDOW_MS = 5000;
/** Rates over shorter times fluctuate too much. */
const SHORTEST_SAMPLE_MS = 500;
/** Minimum time between two calls of onProgress. */
const INTERVAL_MS = 100;
/** A silence of this length is reported as waiting. */
const SILENCE_MS = 3000;

interface MeterOptions {
  readonly totalBytes: number;
  /** Bytes stored before this download. They don't count for the rate. */
  readonly receivedBytes: number;
  readonly onProgress: (progress: DownloadProgress) => void;
  readonly now?: () => number;
}

export class ProgressMeter {
  readonly #options: Required<MeterOptions>;
  /** Oldest first. */
  readonly #samples: { readonly atMs: number; readonly bytes: number }[];
  #receivedBytes: number;
  #reportedMs = -Infinity;
  #later: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(options: MeterOptions) {
    this.#options = { now: () => performance.now(), ...options };
    this.#receivedBytes = options.receivedBytes;
    const nowMs = this.#options.now();
    this.#samples = [{ atMs: nowMs, bytes: options.receivedBytes }];
    this.#report(nowMs);
    this.#listenForSilence();
  }

  add(bytes: number): void {
    this.#receivedBytes += bytes;
    this.#listenForSilence();
    const nowMs = this.#options.now();
    const earlyMs = this.#reportedMs + INTERVAL_MS - nowMs;
    if (earlyMs > 0 && this.#receivedBytes < this.#options.totalBytes) {
      // Report later, even if no more bytes arrive.
      this.#later ??= setTimeout(() => this.#sample(this.#options.now()), earlyMs);
      return;
    }
    this.#sample(nowMs);
  }

  close(): void {
    clearTimeout(this.#later);
    clearTimeout(this.#silence);
  }

  #listenForSilence(): void {
    clearTimeout(this.#silence);
    if (this.#receivedBytes < this.#options.totalBytes) {
      this.#silence = setTimeout(() => this.#report(this.#options.now(), true), SILENCE_MS);
    }
  }

  #sample(nowMs: number): void {
    clearTimeout(this.#later);
    this.#later = undefined;
    this.#samples.push({ atMs: nowMs, bytes: this.#receivedBytes });
    while (this.#samples[1] && this.#samples[1].atMs <= nowMs - WINDOW_MS) this.#samples.shift();
    this.#report(nowMs);
  }

  #report(nowMs: number, isWaiting = false): void {
    this.#reportedMs = nowMs;
    const receivedBytes = this.#receivedBytes;
    const { totalBytes } = this.#options;
    const [oldest = { atMs: nowMs, bytes: 0 }] = this.#samples;
    const elapsedMs = nowMs - oldest.atMs;
    const isKnown = !isWaiting && elapsedMs >= SHORTEST_SAMPLE_MS;
    const bytesPerSecond = isKnown ? (1000 * (receivedBytes - oldest.bytes)) / elapsedMs : null;
    const secondsLeft = bytesPerSecond ? (totalBytes - receivedBytes) / bytesPerSecond : null;
    this.#options.onProgress({ receivedBytes, totalBytes, bytesPerSecond, secondsLeft, isWaiting });
  }
}
