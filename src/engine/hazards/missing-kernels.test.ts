// The runner compiles some kernels while it computes steps. A request whose kernel is missing waits for it alone.

import { expect, test } from "vitest";

import { byteTokens, EngineHarness, samplingParams } from "../../../tests/fakes/engine-harness.ts";
import { FakeRunner } from "../../../tests/fakes/fake-runner.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { EngineOptions } from "../engine-options.ts";
import type { Runner } from "../runner.ts";

const prompt = byteTokens("What?");
const PLAIN = { params: samplingParams({ ignoreEos: true, maxTokens: 20 }) };
/** Only these draws need the kernel. */
const FILTERED = { params: samplingParams({ ignoreEos: true, topP: 0.5, temperature: 1, seed: 3 }) };
const refused = new ChorusError("kernel_refused", "The driver does not compile the kernel sample.");
const lost = new ChorusError("device_lost", "The device is gone.");

/** Of the queue of tasks: all that follows from promises has happened. */
const settle = () => new Promise((resolve) => setTimeout(resolve));

/** A kernel for filtered draws, of whose compilation the test says when and how it ends. */
class LateKernel {
  numRequests = 0;
  #isReady = false;
  #outcome: (error?: Error) => void = () => undefined;
  #compiling!: Promise<void>;

  constructor() {
    this.restart();
  }

  readonly missing: NonNullable<Runner["missing"]> = ({ params }) => {
    if (this.#isReady || params.topP === 1) return null;
    this.numRequests += 1;
    return this.#compiling;
  };

  async end(error?: Error): Promise<void> {
    this.#isReady = error === undefined;
    this.#outcome(error);
    await settle();
  }

  /** Another device compiles it again. */
  restart(): void {
    this.#isReady = false;
    this.#compiling = new Promise((resolve, reject) => {
      this.#outcome = (error) => (error ? reject(error) : resolve());
    });
  }
}

function setUp(config: Partial<EngineOptions["config"]> = {}, options: { delay?: EngineOptions["delay"] } = {}) {
  const kernel = new LateKernel();
  const harness = new EngineHarness({ config: { runAhead: 2, ...config }, missing: kernel.missing, ...options });
  return { kernel, harness };
}

/** The answers of requests if nothing is missing. */
async function answersOf(play: (harness: EngineHarness) => void) {
  const harness = new EngineHarness({ config: { runAhead: 2 } });
  play(harness);
  await harness.runToEnd();
  return [...harness.choices].sort();
}

const addAll = (harness: EngineHarness): void => {
  harness.add("filtered", prompt, FILTERED);
  harness.add("three", prompt, { ...FILTERED, n: 3 });
  const beamSearch = { numBeams: 3, lengthPenalty: 1, earlyStopping: false };
  harness.add("beams", prompt, { ...FILTERED, beamSearch, n: 2 });
  harness.add("plain", byteTokens("Nothing special."), PLAIN);
};

test("others pass by those that wait, which get the same answers afterwards", async () => {
  const { kernel, harness } = setUp();
  addAll(harness);
  while (harness.choice("plain").finishReason === null) await harness.step();
  expect(new Set(harness.steps.flatMap(({ entries }) => entries.map((one) => one.requestId)))).toEqual(
    new Set(["plain"]),
  );
  expect(harness.engine.stats().num_requests_waiting).toBe(5);
  await kernel.end();
  await harness.runToEnd();
  expect([...harness.choices].sort()).toEqual(await answersOf(addAll));
});

test("one that is refused ends with the error, all its choices, and nobody else does", async () => {
  const { kernel, harness } = setUp();
  addAll(harness);
  for (let i = 0; i < 5; i++) await harness.step();
  await kernel.end(refused);
  for (const [id, n] of [
    ["filtered", 1],
    ["three", 3],
    ["beams", 2],
  ] as const) {
    for (let index = 0; index < n; index++) {
      const { finishReason, error } = harness.choice(id, index);
      expect([finishReason, error?.code, error?.message]).toEqual(["abort", refused.code, refused.message]);
    }
  }
  harness.add("late", prompt, FILTERED);
  await settle();
  expect(harness.choice("late").error?.code).toBe("kernel_refused");
  harness.add("later", prompt, PLAIN);
  await harness.runToEnd();
  expect([harness.choice("plain"), harness.choice("later")]).toMatchObject([
    { finishReason: "length", error: null },
    { finishReason: "length", error: null },
  ]);
  expect(harness.engine.stats().num_gpu_blocks_free).toBe(2048);
});

test("an engine in which all wait sleeps until the kernel is there", async () => {
  let numDelays = 0;
  const delay = () => {
    numDelays += 1;
    return settle().then(() => undefined);
  };
  const { kernel, harness } = setUp({}, { delay });
  void harness.engine.run();
  harness.add("filtered", prompt, FILTERED);
  for (let i = 0; i < 5; i++) await settle();
  expect([numDelays, kernel.numRequests, harness.choice("filtered").finishReason]).toEqual([0, 1, null]);
  await kernel.end();
  for (let i = 0; i < 20; i++) await settle();
  expect(harness.choice("filtered").finishReason).toBe("length");
  expect(harness.fatal).toEqual([]);
  harness.engine.fail(lost);
});

test("what waits ends by its deadline or an abort; the kernel's end then harms nobody of the same name", async () => {
  const delay = () => settle().then(() => undefined);
  const { kernel, harness } = setUp({}, { delay });
  void harness.engine.run();
  harness.add("overdue", prompt, { ...FILTERED, deadlineMs: 20 });
  harness.add("a", prompt, FILTERED);
  harness.engine.abort("a");
  expect(harness.choice("a").finishReason).toBe("abort");
  harness.choices.delete("a/0");
  harness.add("a", prompt, PLAIN);
  for (let i = 0; i < 60; i++) await settle();
  expect(harness.choice("overdue").stopReason).toBe("deadline");
  await kernel.end(refused);
  for (let i = 0; i < 60; i++) await settle();
  expect(harness.choice("a")).toMatchObject({ finishReason: "length", error: null });
  harness.engine.fail(lost);
});

test("another device compiles its own; what the lost one says of its kernel is of no interest", async () => {
  const { kernel, harness } = setUp();
  addAll(harness);
  for (let i = 0; i < 5; i++) await harness.step();
  harness.loseDevice({ isReported: true });
  await kernel.end(refused);
  kernel.restart();
  await harness.restoreDevice();
  for (let i = 0; i < 5; i++) await harness.step();
  expect(harness.choice("filtered").error).toBeNull();
  await kernel.end();
  await harness.runToEnd();
  expect([...harness.choices].sort()).toEqual(await answersOf(addAll));
});

test("a kernel that fails because the device is lost costs no request", async () => {
  const { kernel, harness } = setUp();
  addAll(harness);
  for (let i = 0; i < 5; i++) await harness.step();
  await kernel.end(lost);
  kernel.restart();
  await kernel.end();
  await harness.restoreDevice();
  await harness.runToEnd();
  expect(harness.engine.stats().device_losses_total).toBe(1);
  expect([...harness.choices].sort()).toEqual(await answersOf(addAll));
});

test("a batch forms of those that can run", async () => {
  const { kernel, harness } = setUp({ batchingMode: "static", maxNumSeqs: 2, batchWindowMs: 200 });
  harness.add("filtered", prompt, FILTERED);
  harness.add("one", prompt, PLAIN);
  for (let i = 0; i < 5; i++) await harness.step();
  expect(harness.steps).toEqual([]);
  harness.add("two", prompt, PLAIN);
  await harness.step();
  await kernel.end();
  await harness.runToEnd();
  expect(harness.steps[0]?.entries.map(({ requestId }) => requestId)).toEqual(["one", "two"]);
  expect(harness.choice("filtered").finishReason).toBe("length");
});

test("an engine that ends while some wait has no use for the kernel", async () => {
  const { kernel, harness } = setUp();
  addAll(harness);
  await harness.step();
  harness.engine.fail(lost);
  await kernel.end();
  expect(harness.fatal).toEqual([lost]);
  expect(harness.choice("filtered").finishReason).toBeNull();
});

test("a sequence goes on without drafts until the draft model can draw for it", async () => {
  const config = { runAhead: 0, speculation: { method: "draft_model" as const, numTokens: 3 } };
  const kernel = new LateKernel();
  const harness = new EngineHarness({ config });
  const draftRunner = new FakeRunner({ ...harness.config, vocabSize: 257 });
  const late = new EngineHarness({
    config,
    draftRunner: { submit: (plan) => draftRunner.submit(plan), missing: kernel.missing },
  });
  const long = { params: { ...FILTERED.params, maxTokens: 40 } };
  for (const one of [harness, late]) one.add("filtered", prompt, long);
  for (let i = 0; i < 10; i++) await late.step();
  expect(late.engine.stats().spec_decode_num_drafts_total).toBe(0);
  await kernel.end();
  for (const one of [harness, late]) await one.runToEnd();
  expect(late.engine.stats().spec_decode_num_drafts_total).toBeGreaterThan(0);
  expect(late.choice("filtered").tokenIds).toEqual(harness.choice("filtered").tokenIds);
});
