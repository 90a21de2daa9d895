import { afterEach, beforeEach, expect, test } from "vitest";

import { ModelServer } from "../../../tests/fakes/model-server.ts";
import { HttpClient } from "./http-client.ts";
import { RangedFile } from "./ranged-file.ts";

const MIB = 2 ** 20;
const BYTES = new Uint8Array(3 * MIB).map((_, i) => i >> 8);
let server: ModelServer;
beforeEach(async () => {
  server = await ModelServer.start();
  server.files.set("x.gguf", BYTES);
});
afterEach(() => server.close());

async function open(): Promise<RangedFile> {
  const http = new HttpClient({ wait: async () => undefined });
  const file = await RangedFile.open(
    http,
    { url: `${server.url}x.gguf`, headers: {}, file: "x.gguf" },
    { firstBytes: 2 ** 20 },
  );
  if ("missing" in file) throw new Error(file.missing);
  return file;
}

test.each([true, false])("a part is what was asked for, where the server sends parts: %s", async (takesRanges) => {
  server.takesRanges = takesRanges;
  const file = await open();
  expect(file).toMatchObject({ size: BYTES.length, takesRanges });
  const part = await file.slice(MIB, MIB + 5000).arrayBuffer();
  expect(new Uint8Array(part)).toEqual(BYTES.slice(MIB, MIB + 5000));
});

test("another part than was asked for is refused", async () => {
  const file = await open();
  server.interfere = (_, response) => {
    response.writeHead(206, { "content-range": `bytes 0-4999/${BYTES.length}`, "content-length": 5000 });
    response.end(BYTES.subarray(0, 5000));
    return true;
  };
  const refusal = { code: "model_download_failed", message: expect.stringContaining("wrong range") };
  await expect(file.slice(MIB, MIB + 5000).arrayBuffer()).rejects.toMatchObject(refusal);
});
