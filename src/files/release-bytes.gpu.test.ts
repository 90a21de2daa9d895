import { expect, it } from "vitest";

import { HttpClient } from "./hub/http-client.ts";
import { streamToBlob } from "./hub/stream-to-blob.ts";
import { releaseBytes } from "./release-bytes.ts";

// In the browser: Node 20 has no way to give a buffer back.

it("gives a buffer back, but none that has more in it than what is given", () => {
  const bytes = Uint8Array.of(1, 2, 3, 4);
  releaseBytes(bytes.subarray(1));
  releaseBytes(bytes.subarray(0, 3));
  expect([...bytes]).toEqual([1, 2, 3, 4]);
  releaseBytes(bytes);
  expect(bytes.buffer.byteLength).toBe(0);
});

it("a file that is streamed is in its Blob, and nowhere else", async () => {
  const MIB = 2 ** 20;
  const pieces = Array.from({ length: 11 }, (_, i) => new Uint8Array(MIB).fill(i));
  const waiting = [...pieces];
  const body = new ReadableStream({
    pull: (controller) => {
      const piece = waiting.shift();
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
  });
  const http = new HttpClient({ fetch: () => Promise.resolve(new Response(body)) });
  const blob = await streamToBlob(http, { url: "https://host/large", headers: {}, file: "large" }, () => undefined);
  expect(pieces.map(({ length }) => length)).toEqual(pieces.map(() => 0));
  if ("missing" in blob) throw new Error(blob.missing);
  const bytes = new Uint8Array(await blob.arrayBuffer());
  expect(bytes.length).toBe(11 * MIB);
  expect(pieces.map((_, i) => [bytes[i * MIB], bytes[(i + 1) * MIB - 1]])).toEqual(pieces.map((_, i) => [i, i]));
});
