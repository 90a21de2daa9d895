const WIDTH = 24;
const MB = 1e6;
const EVERY_MS = 200;

/** A download's progress on one line of a terminal: `owner/name [======      ] 26% of 270 MB, 12 MB/s`. */
export function downloadBar(name: string, print: (text: string) => void, now = () => performance.now()) {
  let started: { readonly atMs: number; readonly bytes: number } | null = null;
  let shownMs = -Infinity;
  let line = "";
  return {
    /** Shows progress; nothing if all was there already. */
    show(receivedBytes: number, totalBytes: number): void {
      const nowMs = now();
      const { atMs, bytes } = (started ??= { atMs: nowMs, bytes: receivedBytes });
      const share = totalBytes > 0 ? receivedBytes / totalBytes : 1;
      if (share === 1 ? line === "" : nowMs - shownMs < EVERY_MS) return;
      shownMs = nowMs;
      const rate = nowMs > atMs ? (1000 * (receivedBytes - bytes)) / (nowMs - atMs) : 0;
      const bar = "=".repeat(Math.round(WIDTH * share)).padEnd(WIDTH);
      const before = line;
      line = `${name} [${bar}] ${Math.floor(100 * share)}% of ${(totalBytes / MB).toFixed(0)} MB, ${(rate / MB).toFixed(1)} MB/s`;
      // Overwrites the previous line, which may have been longer.
      print(`\r${line.padEnd(before.length)}`);
    },
    end(): void {
      if (line !== "") print("\n");
    },
  };
}
