import { describe, expect, it } from "vitest";
import {
  BYTE_VOCABULARY,
  byteTokens,
  EngineHarness,
  EOS,
  PLAIN_REQUEST,
  ROOMY,
  samplingParams,
  scriptedRunner,
} from "../../tests/fakes/engine-harness.ts";
import { FakeRunner } from "../../tests/fakes/fake-runner.ts";
import { ChorusError } from "../protocol/errors.ts";
import { Engine } from "./engine.ts";
import type { Runner } from "./runner.ts";
import type { StepPlan } from "./step-plan.ts";

const LONG = samplingParams({ ignoreEos: true, maxTokens: 40 });

describe("Engine", () => {
  it("streams the text of an answer token by token and ends it", async () => {
    const harness = new EngineHarness({ runner: scriptedRunner([...byteTokens("Hé!"), EOS]) });
    harness.add("a", [1, 2]);
    const seen: string[] = [];
    while (harness.hasWork) {
      await harness.step();
      seen.push(harness.choice("a").text);
    }
    expect(seen).toEqual(["H", "H", "Hé", "Hé!", "Hé!"]);
    expect(harness.choice("a")).toMatchObject({ finishReason: "stop", stopReason: null });
  });

  it("counts the end-of-text token among the tokens, though it is no text", async () => {
    const harness = new EngineHarness({ runner: scriptedRunner([65, EOS]) });
    harness.add("a", [1]);
    await harness.runToEnd();
    expect(harness.choice("a").tokenIds).toEqual([65, EOS]);
  });

  it("lets requests that arrive at different times share steps", async () => {
    const harness = new EngineHarness();
    harness.add("a", [1, 2, 3], { params: LONG });
    await harness.step();
    harness.add("b", [4, 5], { params: LONG });
    await harness.step();
    expect(harness.steps.at(-1)?.entries.map((entry) => [entry.requestId, entry.start, entry.rows])).toEqual([
      ["a", 3, 1],
      ["b", 0, 2],
    ]);
  });

  it("gives each of n choices a seed of its own, the first one the request's", async () => {
    const params = samplingParams({ temperature: 1, seed: 2 ** 53 - 1, ignoreEos: true });
    const together = new EngineHarness();
    together.add("a", [1, 2], { params, n: 3 });
    await together.runToEnd();
    const tokens = [0, 1, 2].map((index) => together.choice("a", index).tokenIds);
    expect(new Set(tokens.map(String)).size).toBe(3);

    // The least seed comes after the largest.
    for (const [index, seed] of [2 ** 53 - 1, 1 - 2 ** 53, 2 - 2 ** 53].entries()) {
      const alone = new EngineHarness();
      alone.add("a", [1, 2], { params: { ...params, seed } });
      await alone.runToEnd();
      expect(alone.choice("a").tokenIds).toEqual(tokens[index]);
    }
  });

  it("reports a sequence when it is queued, has its first token, and ends", async () => {
    const harness = new EngineHarness();
    harness.add("a", [1, 2, 3], { params: samplingParams({ maxTokens: 1, ignoreEos: true }) });
    await harness.runToEnd();
    const [queued, first, finished] = harness.requests;
    expect(harness.requests.map((report) => report.status)).toEqual(["queued", "first-token", "finished"]);
    expect(queued).toMatchObject({ promptTokens: 3, outputTokens: 0, scheduledMs: null, firstTokenMs: null });
    expect(first).toMatchObject({ outputTokens: 1, finishedMs: null, finishReason: null });
    expect(finished).toMatchObject({ outputTokens: 1, finishReason: "length", finishedMs: first?.firstTokenMs });
    expect(queued?.arrivalMs).toBeLessThan(first?.scheduledMs ?? 0);
    expect(first?.scheduledMs).toBeLessThan(first?.firstTokenMs ?? 0);
  });

  it("reports each step: rows, prompt rows, who sampled, and the state afterwards", async () => {
    const harness = new EngineHarness({ config: { maxNumBatchedTokens: 6, maxNumSeqs: 2, blockSize: 4 } });
    harness.add("a", [1, 2], { params: LONG });
    harness.add("b", [1, 2, 3, 4, 5], { params: LONG });
    harness.add("c", [1], { params: LONG });
    await harness.step();
    await harness.step();
    expect(harness.steps).toMatchObject([
      { step: 1, rows: 6, promptRows: 6, sampledTokens: 1, numRunning: 2, numWaiting: 1, kvBlocksUsed: 3 },
      { step: 2, rows: 2, promptRows: 1, sampledTokens: 2, numRunning: 2, numWaiting: 1, kvBlocksTotal: 2048 },
    ]);
    expect(harness.steps[0]?.entries[1]).toEqual({
      requestId: "b",
      index: 0,
      start: 0,
      rows: 4,
      promptRows: 4,
      cachedTokens: 0,
      sampled: false,
      drafted: 0,
      accepted: 0,
      slot: 1,
      blocks: [1, 2],
      firstBlock: 0,
      blocksGivenBack: 0,
      finishReason: null,
    });
  });

  it("times a step from planning to knowing the tokens, and apart from that its own work", async () => {
    const clock = { ms: 0 };
    const runner = new FakeRunner({ ...ROOMY, vocabSize: 8 });
    let cpuMs = 0;
    let stepMs = 0;
    const engine = new Engine({
      config: ROOMY,
      runner: {
        submit: async (step) => {
          clock.ms += 2; // encoding
          const result = await runner.submit(step);
          clock.ms += 30; // the GPU
          return result;
        },
      },
      eosTokenIds: [],
      tokenBytes: () => {
        clock.ms += 1; // committing
        return new Uint8Array();
      },
      now: () => clock.ms,
      delay: () => Promise.resolve(),
      onOutputs: (_, report) => ({ cpuMs = 0, stepMs = 0 } = report ?? {}),
      onFatal: (error) => expect.unreachable(error.message),
    });
    engine.add({ requestId: "a", prompt: [1], params: LONG, ...PLAIN_REQUEST });
    await engine.step();
    expect({ cpuMs, stepMs }).toEqual({ cpuMs: 3, stepMs: 32 });
  });

  it("counts tokens, steps and endings", async () => {
    const harness = new EngineHarness({ runner: scriptedRunner([65, EOS], [66]) });
    harness.add("a", [1, 2, 3]);
    harness.add("b", [1, 2], { params: samplingParams({ maxTokens: 1 }) });
    expect(harness.engine.stats()).toMatchObject({ num_requests_waiting: 2, prompt_tokens_total: 0 });
    await harness.runToEnd();
    expect(harness.engine.stats()).toEqual({
      num_requests_running: 0,
      num_requests_waiting: 0,
      kv_cache_usage_perc: 0,
      num_preemptions_total: 0,
      prefix_cache_queries: 5,
      prefix_cache_hits: 0,
      spec_decode_num_drafts_total: 0,
      spec_decode_num_draft_tokens_total: 0,
      spec_decode_num_accepted_tokens_total: 0,
      prompt_tokens_total: 5,
      generation_tokens_total: 3,
      request_success_total: { stop: 1, length: 1, abort: 0 },
      engine_steps_total: 2,
      step_sequences_total: 3,
      device_losses_total: 0,
      num_gpu_blocks: 2048,
      num_gpu_blocks_free: 2048,
      max_num_seqs: 64,
      slot_usage_perc: 0,
      num_resident_tokens: 0,
      max_num_batched_tokens: 256,
      batched_tokens_usage_perc: 0,
      gpu_time_usage_perc: null,
    });
  });

  it("tells how much of its slots, cache, budget and GPU the last step used", async () => {
    const sizes = { maxNumSeqs: 8, maxNumBatchedTokens: 16 };
    const fake = new FakeRunner({ ...ROOMY, ...sizes, vocabSize: 257 });
    let gpuMs = 0;
    const runner = {
      submit: async (plan: StepPlan) => ({ ...(await fake.submit(plan)), gpuMs }),
    };
    const harness = new EngineHarness({ runner, config: sizes });
    harness.add("a", [1, 2, 3], { params: LONG });
    harness.add("b", [1], { params: LONG });
    gpuMs = 1;
    await harness.step();
    const used = { slot_usage_perc: 0.25, num_resident_tokens: 4, batched_tokens_usage_perc: 0.25 };
    expect(harness.engine.stats()).toMatchObject({ max_num_seqs: 8, max_num_batched_tokens: 16, ...used });
    const [report] = harness.steps;
    expect(report).toMatchObject({ rows: 4, maxNumSeqs: 8, maxNumBatchedTokens: 16, numResidentTokens: 4 });
    expect(harness.engine.stats().gpu_time_usage_perc).toBe(1 / (report?.stepMs ?? NaN));
    // Results that are taken in together: the second step seems to take no longer than the taking in.
    gpuMs = 1000;
    await harness.step();
    expect(harness.engine.stats().gpu_time_usage_perc).toBe(1);
    expect(harness.engine.stats()).toMatchObject({ num_resident_tokens: 6, batched_tokens_usage_perc: 0.125 });
    for (const id of ["a", "b"]) harness.engine.abort(id);
    const atRest = { slot_usage_perc: 0, num_resident_tokens: 0, batched_tokens_usage_perc: 0, gpu_time_usage_perc: 0 };
    expect(harness.engine.stats()).toMatchObject(atRest);
  });

  it("lets a listener add and abort, and hands over what comes of it afterwards", async () => {
    const order: string[] = [];
    const engine = new Engine({
      config: ROOMY,
      runner: new FakeRunner({ ...ROOMY, vocabSize: 8 }),
      eosTokenIds: [],
      tokenBytes: (tokenId) => BYTE_VOCABULARY[tokenId]!,
      now: () => 0,
      delay: () => Promise.resolve(),
      onOutputs: (outputs) => {
        for (const { requestId, index, finishReason } of outputs) {
          order.push(`${requestId}${index} ${finishReason}`);
          engine.abort(requestId);
        }
      },
      onFatal: (error) => expect.unreachable(error.message),
    });
    engine.add({ requestId: "a", prompt: [1], params: LONG, ...PLAIN_REQUEST, n: 2 });
    await engine.step();
    expect(order).toEqual(["a0 null", "a1 null", "a0 abort", "a1 abort"]);
    engine.assertConsistent();
  });
});

describe("Engine.run", () => {
  /** Lets everything that is ready to go on do so. */
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

  it("sleeps until there is work, and again when it is done", async () => {
    const harness = new EngineHarness();
    void harness.engine.run();
    for (const requestId of ["a", "b"]) {
      await settle();
      harness.add(requestId, [1, 2]);
      await settle();
      expect(harness.choice(requestId).finishReason).not.toBeNull();
    }
    const { engine_steps_total: steps } = harness.engine.stats();
    await settle();
    expect(harness.engine.stats().engine_steps_total).toBe(steps);
  });

  it("is one loop however often it is called: never two steps at a time", async () => {
    let inFlight = 0;
    const runner = new FakeRunner({ ...ROOMY, vocabSize: 257 });
    const harness = new EngineHarness({
      runner: {
        submit: async (step) => {
          expect(++inFlight).toBe(1);
          await settle();
          inFlight -= 1;
          return runner.submit(step);
        },
      },
    });
    expect(harness.engine.run()).toBe(harness.engine.run());
    harness.add("a", [1, 2], { params: samplingParams({ maxTokens: 3 }) });
    harness.add("b", [3]);
    await settle();
    await expect(harness.engine.step()).rejects.toThrow("while another step is in progress");
    while (harness.hasWork) await settle();
    expect(harness.fatal).toEqual([]);
  });

  it("ends with the engine", async () => {
    const harness = new EngineHarness();
    const loop = harness.engine.run();
    harness.engine.fail(new ChorusError("engine_disposed", "Disposed."));
    await loop;
  });
});

describe("An engine whose runner fails", () => {
  function failing(error: unknown): Runner {
    return {
      submit: async () => {
        throw error;
      },
    };
  }

  it("ends everything that is open, without a further output, and refuses what comes later with the same error", async () => {
    const lost = new ChorusError("device_lost", "The GPU is gone.");
    const harness = new EngineHarness({ runner: failing(lost) });
    harness.add("a", [1]);
    harness.add("b", [1]);
    await harness.engine.step();
    expect(harness.fatal).toEqual([lost]);
    expect(harness.choices.size).toBe(0);
    expect(harness.hasWork).toBe(false);
    harness.engine.assertConsistent();
    expect(() => harness.add("c", [1])).toThrow(lost);
  });

  it("makes an internal_error of what is no ChorusError and keeps the cause", async () => {
    const cause = new TypeError("boom");
    const harness = new EngineHarness({ runner: failing(cause) });
    harness.add("a", [1]);
    await harness.engine.step();
    expect(harness.fatal).toMatchObject([{ code: "internal_error", message: "boom", cause }]);
  });

  it("does not take fewer tokens than it asked for, and says nothing more once it is dead", async () => {
    const harness = new EngineHarness({
      runner: {
        submit: () =>
          Promise.resolve({ sequences: [{ scored: [], drawn: [{ tokenId: 65, logprob: -1 }] }], gpuMs: null }),
      },
    });
    harness.add("a", [1]);
    harness.add("b", [1]);
    await harness.engine.step();
    expect(harness.fatal).toMatchObject([{ code: "internal_error", message: "The runner gave too few tokens." }]);
    harness.engine.abort("a");
    expect(harness.choices.size).toBe(0);
  });

  it("drops the tokens of a step that was in flight when it died, and dies once", async () => {
    const harness = new EngineHarness();
    harness.add("a", [1]);
    const step = harness.engine.step();
    harness.engine.fail(new ChorusError("device_lost", "first"));
    harness.engine.fail(new ChorusError("device_lost", "second"));
    await step;
    harness.engine.abort("a");
    expect(harness.fatal.map((error) => error.message)).toEqual(["first"]);
    expect(harness.choices.size).toBe(0);
    expect(harness.steps).toEqual([]);
  });
});
