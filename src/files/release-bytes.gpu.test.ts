import { expect, it } from "vitest";

import { HttpClient } from "./hub/http-client.ts";
import { fetchFile } from "./hub/arriving-file.ts";
import { releaseBytes } from "./release-bytes.ts";

// In the browser, since Node 20 can't free a buffer.

it("frees a buffer, but not one larger than the bytes given", () => {
  const bytes = Uint8Array.of(1, 2, 3, 4);
  releaseBytes(bytes.subarray(1));
  releaseBytes(bytes.subarray(0, 3));
  expect([...bytes]).toEqual([1, 2, 3, 4]);
  releaseBytes(bytes);
  expect(bytes.buffer.byteLength).toBe(0);
  releaseBytes(bytes);
});

it("a large streamed file leaves no copy outside its Blob", async () => {
  const MIB = 2 ** 20;
  const pieces = Array.from({ length: 17 }, (_, i) => new Uint8Array(MIB).fill(i));
  const waiting = [...pieces];
  const body = new ReadableStream({
    pull: (controller) => {
      const piece = waiting.shift();
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
  });
  const http = new HttpClient({
    fetch: () => Promise.resolve(new Response(body, { headers: { "content-length": `${17 * MIB}` } })),
  });
  const file = await fetchFile(http, { url: "https://host/large", headers: {}, file: "large" }, () => undefined);
  if ("missing" in file) throw new Error(file.missing);
  const bytes = new Uint8Array(await (await file.whole()).arrayBuffer());
  expect(pieces.map(({ length }) => length)).toEqual(pieces.map(() => 0));
  expect(bytes.length).toBe(17 * MIB);
  expect(pieces.map((_, i) => [bytes[i * MIB], bytes[(i + 1) * MIB - 1]])).toEqual(pieces.map((_, i) => [i, i]));
});
