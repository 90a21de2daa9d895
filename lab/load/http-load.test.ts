import { expect, it } from "vitest";

import { NodeServer } from "../../src/server/node-server.ts";
import { openFakeModel } from "../../tests/fakes/fake-model.ts";
import { readHttpStream } from "./http-load.ts";

it("measures a stream as vLLM does: a chunk a token, the prompt as the server counts it", async () => {
  await using engine = (await openFakeModel()).engine;
  const server = await NodeServer.listen((request) => engine.fetch(request), { host: "127.0.0.1", port: 0 });
  try {
    const target = { baseUrl: `${server.url}/v1`, model: engine.model.name, apiKey: null };
    const record = await readHttpStream(target, { prompt: "Hello", outputTokens: 8 });
    const { count: promptTokens } = await engine.tokenize({ prompt: "Hello" });
    expect(record).toMatchObject({ promptTokens, error: null });
    expect(record.chunks.map(({ tokens }) => tokens)).toEqual(Array.from({ length: 8 }, () => 1));
    const refused = await readHttpStream({ ...target, model: "other" }, { prompt: "", outputTokens: 8 });
    expect(refused.error).toMatch(/^4\d\d/);
  } finally {
    await server.close();
  }
});
