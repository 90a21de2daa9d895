import { afterEach, beforeEach, expect, it } from "vitest";

import { createHandler } from "../../src/http/handler.ts";
import type { Handler } from "../../src/http/served-engine.ts";
import { NodeServer } from "../../src/server/node-server.ts";
import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";
import { seededRandom } from "../seeded-random.ts";
import { readHttpStream } from "./http-load.ts";
import { soak } from "./soak.ts";

const REQUESTS = [
  { prompt: "One", outputTokens: 12 },
  { prompt: "Two and more", outputTokens: 30 },
];

let fake: FakeModel;
let server: NodeServer;
beforeEach(async () => void (fake = await openFakeModel()));
afterEach(async () => {
  await server.close();
  await fake.engine.dispose();
});

async function targetOf(handler: Handler = createHandler(fake.engine)) {
  server = await NodeServer.listen(handler, { host: "127.0.0.1", port: 0 });
  return { baseUrl: `${server.url}/v1`, model: fake.engine.model.name, apiKey: null };
}

it("finds nothing wrong with our server, whose blocks are all free at the end", async () => {
  const target = await targetOf();
  const result = await soak({ target, requests: REQUESTS, streams: 40, durationMs: 700, random: seededRandom(1) });
  expect(result.wrong).toBe(0);
  expect(result.finished).toBeGreaterThan(10);
  expect(result.closed).toBeGreaterThan(10);
  await expect.poll(async () => (await fake.engine.stats()).num_requests_running).toBe(0);
  const { num_gpu_blocks: all, num_gpu_blocks_free: free, num_requests_waiting: waiting } = await fake.engine.stats();
  expect([free, waiting]).toEqual([all, 0]);
});

it.each<[string, (text: string) => string, RegExp]>([
  ["loses a chunk", (text) => text.replace(/data: .*?\n\n/, ""), /another text|tokens/],
  ["doubles a chunk", (text) => text.replace(/(data: .*?\n\n)/, "$1$1"), /another text|tokens/],
  ["never says that it ended", (text) => text.replace("data: [DONE]\n\n", ""), /ended 0 times/],
  ["mixes answers up", (text) => text.replace(/"id":"/, '"id":"other-'), /chunks of 2/],
])("finds a server that %s", async (_, spoil, problem) => {
  const good = createHandler(fake.engine);
  let numRequests = 0;
  const target = await targetOf(async (request) => {
    const response = await good(request);
    if (++numRequests <= REQUESTS.length) return response;
    return new Response(spoil(await response.text()), { headers: { "content-type": "text/event-stream" } });
  });
  const wrong: string[] = [];
  const random = () => 0.9; // reads to the end
  const onWrong = (what: string) => void wrong.push(what);
  const result = await soak({ target, requests: REQUESTS, streams: 2, durationMs: 50, random, onWrong });
  expect(result.wrong).toBe(result.finished);
  expect(wrong[0]).toMatch(problem);
});

it("measures a stream as vLLM does: a chunk a token, the prompt as the server counts it", async () => {
  const target = await targetOf();
  const { record } = await readHttpStream(target, { prompt: "Hello", outputTokens: 8 });
  const { count: promptTokens } = await fake.engine.tokenize({ prompt: "Hello" });
  expect(record).toMatchObject({ promptTokens, error: null });
  expect(record.chunks.map(({ tokens }) => tokens)).toEqual(Array.from({ length: 8 }, () => 1));
  const refused = await readHttpStream({ ...target, model: "other" }, { prompt: "", outputTokens: 8 });
  expect(refused.record.error).toMatch(/^4\d\d/);
});
