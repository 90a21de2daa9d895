import { createServer, request } from "node:http";
import { pipeline } from "node:stream/promises";

/** Bytes sent at a time. */
const SLICE_BYTES = 2 ** 16;

/**
 * Serves what another server of this machine does, weights at a bounded speed: those of people come over a network.
 *
 * @param {string} target
 * @param {number} bytesPerSecond
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export function slowServer(target, bytesPerSecond) {
  const server = createServer((requested, answer) => {
    const { url = "/", method, headers } = requested;
    const forwarded = request(new URL(url, target), { method, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      const isSlow = url.endsWith(".safetensors");
      pipeline(isSlow ? slowed(found, bytesPerSecond) : found, answer).catch(() => undefined); // either side broke off
    });
    forwarded.on("error", () => answer.destroy());
    forwarded.end();
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" ? address?.port : null;
      const close = () =>
        new Promise((/** @type {(value: void) => void} */ closed) => {
          server.close(() => closed());
          server.closeAllConnections();
        });
      resolve({ url: `http://127.0.0.1:${port}/`, close });
    });
  });
}

/**
 * @param {AsyncIterable<Buffer>} found
 * @param {number} bytesPerSecond
 */
async function* slowed(found, bytesPerSecond) {
  const beganMs = performance.now();
  let sentBytes = 0;
  for await (const chunk of found) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      const slice = chunk.subarray(at, at + SLICE_BYTES);
      sentBytes += slice.length;
      // By the clock, since a timer is late.
      const dueMs = beganMs + (1000 * sentBytes) / bytesPerSecond;
      await new Promise((resolve) => setTimeout(resolve, dueMs - performance.now()));
      yield slice;
    }
  }
}
