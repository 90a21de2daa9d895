const WIDTH = 24;
const MB = 1e6;
/** Minimum time between two updates of the bar. */
const EVERY_MS = 200;

/** A download's progress on one line of a terminal: `owner/name [======      ] 26% of 270 MB, 12 MB/s`. */
export class DownloadBar {
  readonly #name: string;
  readonly #print: (text: string) => void;
  readonly #now: () => number;
  #started: { readonly atMs: number; readonly bytes: number } | null = null;
  #shownMs = -Infinity;
  #line = "";

  constructor(name: string, print: (text: string) => void, now = () => performance.now()) {
    this.#name = name;
    this.#print = print;
    this.#now = now;
  }

  /** Shows progress; nothing if all was there already. */
  show(receivedBytes: number, totalBytes: number): void {
    const nowMs = this.#now();
    this.#started ??= { atMs: nowMs, bytes: receivedBytes };
    const share = totalBytes > 0 ? receivedBytes / totalBytes : 1;
    if (nowMs - this.#shownMs < EVERY_MS && share < 1) return;
    const { atMs, bytes } = this.#started;
    const rate = nowMs > atMs ? (1000 * (receivedBytes - bytes)) / (nowMs - atMs) : 0;
    if (share === 1 && this.#line === "") return;
    this.#shownMs = nowMs;
    const bar = "=".repeat(Math.round(WIDTH * share)).padEnd(WIDTH);
    const line = `${this.#name} [${bar}] ${Math.floor(100 * share)}% of ${(totalBytes / MB).toFixed(0)} MB, ${(rate / MB).toFixed(1)} MB/s`;
    // Overwrites the previous line, which may have been longer.
    this.#print(`\r${line.padEnd(this.#line.length)}`);
    this.#line = line;
  }

  end(): void {
    if (this.#line !== "") this.#print("\n");
  }
}
