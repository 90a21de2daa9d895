import { expect, it } from "vitest";

import { Metrics } from "../../engine/metrics/metrics.ts";
import { prometheusText } from "../../engine/metrics/prometheus.ts";
import { FakeEngine } from "../../../tests/app/fake-engine.ts";
import { answerText, ScriptedServer } from "../../../tests/remote/scripted-server.ts";
import { batchIn, readServerBatch } from "./server-metrics.ts";

it("reads vLLM's, over all of its engines", () => {
  const text = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="Qwen/Qwen3"} 3.0
vllm:num_requests_running{engine="1",model_name="Qwen/Qwen3"} 2.0
vllm:num_requests_waiting{engine="0",model_name="Qwen/Qwen3"} 1.0
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.75
vllm:prefix_cache_queries_total{engine="0"} 200.0
vllm:prefix_cache_hits_total{engine="0"} 50.0
vllm:generation_tokens_total{engine="0"} 1.2e+03
`;
  expect(batchIn(text)).toEqual({ running: 5, waiting: 1, kvUse: 0.5, prefixHits: 0.25, generatedTokens: 1200 });
});

it("reads SGLang's", () => {
  const text = `sglang:num_running_reqs{model_name="x"} 162.0
sglang:num_queue_reqs{model_name="x"} 2826.0
sglang:token_usage{model_name="x"} 0.28
sglang:cache_hit_rate{model_name="x"} 0.0075
sglang:generation_tokens_total{model_name="x"} 7.557e+06`;
  const figures = { running: 162, waiting: 2826, kvUse: 0.28, prefixHits: 0.0075, generatedTokens: 7_557_000 };
  expect(batchIn(text)).toEqual(figures);
});

it("reads llama.cpp's, which says less", () => {
  const text = "llamacpp:requests_processing 1\nllamacpp:requests_deferred 0\nllamacpp:tokens_predicted_total 42\n";
  expect(batchIn(text)).toEqual({ running: 1, waiting: 0, kvUse: null, prefixHits: null, generatedTokens: 42 });
});

it("reads our own", async () => {
  const stats = {
    ...(await new FakeEngine().stats()),
    num_requests_running: 4,
    prefix_cache_queries: 10,
    prefix_cache_hits: 5,
  };
  const text = prometheusText(stats, new Metrics({ maxModelLen: 64 }), { model_name: "m" });
  expect(batchIn(text)).toMatchObject({ running: 4, waiting: 0, kvUse: 0, prefixHits: 0.5, generatedTokens: 0 });
});

it("refuses metrics of something else, from the server's root", async () => {
  await using server = await ScriptedServer.start(answerText(200, "python_gc_objects 3\n"));
  await expect(readServerBatch({ baseUrl: server.baseUrl, key: null })).rejects.toThrow(/say nothing of a batch/);
  expect(server.requests[0]?.path).toBe("/metrics");
});
