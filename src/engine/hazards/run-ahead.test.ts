// Steps that are planned before the tokens of the ones before are known: placeholders that reach the model, tokens that
// reach a sequence that is gone, sequences freed twice, penalties for running ahead of an end.
import { describe, expect, it } from "vitest";
import type { Runner, StepResult } from "../../engine/runner.ts";
import type { StepPlan } from "../../engine/step-plan.ts";
import { EngineHarness, ROOMY, samplingParams } from "../../../tests/fakes/engine-harness.ts";
import { FakeRunner } from "../../../tests/fakes/fake-runner.ts";

/** A fake runner that keeps its answers until answer() is called, and counts what is in flight. */
class SlowRunner implements Runner {
  readonly #runner: Runner = new FakeRunner({ ...ROOMY, vocabSize: 257 });
  readonly #answers: (() => void)[] = [];
  inFlight = 0;
  mostInFlight = 0;

  submit(plan: StepPlan): Promise<StepResult> {
    const result = this.#runner.submit(plan);
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    return new Promise((resolve) => {
      this.#answers.push(() => {
        this.inFlight -= 1;
        resolve(result);
      });
    });
  }

  /** The oldest step's answer arrives. */
  answer(): void {
    this.#answers.shift()?.();
  }
}

const LONG = { params: samplingParams({ maxTokens: 30, ignoreEos: true }) };
const settle = () => new Promise((resolve) => setTimeout(resolve));

async function drive(harness: EngineHarness, runner: SlowRunner): Promise<void> {
  void harness.engine.run();
  for (let i = 0; i < 200 && harness.hasWork; i++) {
    await settle();
    runner.answer();
  }
}

describe.each([0, 1, 2, 3, 4])("running %i steps ahead", (runAhead) => {
  it("has that many steps and one in flight, and never more", async () => {
    const runner = new SlowRunner();
    const harness = new EngineHarness({ config: { runAhead }, runner });
    harness.add("a", [1, 2, 3], LONG);
    await drive(harness, runner);
    expect(runner.mostInFlight).toBe(runAhead + 1);
    expect(harness.choice("a").tokenIds).toHaveLength(30);
  });

  it("gives the tokens of the synchronous twin, whatever ends the text", async () => {
    const params = samplingParams({ maxTokens: 25, stopTokenIds: Array.from({ length: 8 }, (_, i) => i) });
    const [ahead, twin] = [runAhead, 0].map((depth) => new EngineHarness({ config: { runAhead: depth } }));
    for (const harness of [ahead!, twin!]) {
      for (let i = 0; i < 12; i++) harness.add(`${i}`, [i, 2 * i, 7], { params, n: 2 });
      await harness.runToEnd();
    }
    expect(ahead!.choices).toEqual(twin!.choices);
    expect(new Set([...twin!.choices.values()].map((choice) => choice.finishReason))).toEqual(
      new Set(["stop", "length"]),
    );
  });

  it("computes at most that many rows for nothing after an end nobody could foresee", async () => {
    const harness = new EngineHarness({ config: { runAhead } });
    const stopTokenIds = Array.from({ length: 200 }, (_, i) => i);
    harness.add("a", [5], { params: samplingParams({ maxTokens: 100, stopTokenIds }) });
    await harness.runToEnd();
    const rows = harness.steps.reduce((sum, step) => sum + step.rows, 0);
    expect(harness.choice("a").finishReason).toBe("stop");
    expect(rows - harness.choice("a").tokenIds.length).toBeLessThanOrEqual(runAhead);
    // Nobody who counts tokens by the reports counts those.
    const reported = harness.steps.reduce((sum, step) => sum + step.sampledTokens, 0);
    expect(reported).toBe(harness.choice("a").tokenIds.length);
  });

  it("computes no row beyond an end that is known", async () => {
    const harness = new EngineHarness({ config: { runAhead } });
    harness.add("a", [5], LONG);
    await harness.runToEnd();
    expect(harness.steps.reduce((sum, step) => sum + step.rows, 0)).toBe(30);
  });

  it("drops what is on its way to a request that is aborted, and nobody else's", async () => {
    const runner = new SlowRunner();
    const harness = new EngineHarness({ config: { runAhead }, runner });
    const alone = new EngineHarness();
    for (const engine of [harness, alone]) engine.add("b", [9, 8], LONG);
    harness.add("a", [1], LONG);
    void harness.engine.run();
    for (let i = 0; i < 4; i++) {
      await settle();
      runner.answer();
    }
    await settle();
    const before = harness.choice("a").tokenIds.length;
    harness.engine.abort("a");
    harness.engine.abort("a");
    await drive(harness, runner);
    await alone.runToEnd();
    expect(harness.choice("a").tokenIds).toHaveLength(before);
    expect(harness.choice("b")).toEqual(alone.choice("b"));
    harness.engine.assertConsistent();
  });

  it("stalls a stream that needs a block for one step at most, while others still have room", async () => {
    const config = { runAhead, blockSize: 16, numGpuBlocks: 3 };
    const harness = new EngineHarness({ config });
    // b fills its first block while a and c have room left in theirs: c is preempted, and b goes on.
    for (const [id, length] of Object.entries({ a: 1, b: 12, c: 8 })) {
      harness.add(
        id,
        Array.from({ length }, (_, i) => i),
        { params: samplingParams({ maxTokens: 15, ignoreEos: true }) },
      );
    }
    await harness.runToEnd();
    const spoke = harness.steps.flatMap(({ step, entries }) =>
      entries.some(({ requestId, sampled }) => requestId === "b" && sampled) ? [step] : [],
    );
    const gaps = spoke.slice(1).map((step, i) => step - (spoke[i] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(runAhead === 0 ? 1 : 2);
    expect(harness.engine.stats().num_preemptions_total).toBe(1);
  });

  it("says nothing more when it dies with steps in flight", async () => {
    const runner = new SlowRunner();
    const harness = new EngineHarness({ config: { runAhead }, runner });
    harness.add("a", [1], LONG);
    void harness.engine.run();
    await settle();
    harness.engine.fail(new Error("gone"));
    for (let i = 0; i < 6; i++) runner.answer();
    await settle();
    expect(harness.fatal).toHaveLength(1);
    expect(harness.steps).toEqual([]);
    expect(await harness.engine.step()).toBe(false);
  });
});

it("a failure of a step that nobody awaits yet is not lost, and not told twice", async () => {
  let count = 0;
  const failing: Runner = {
    submit: () =>
      ++count === 3
        ? Promise.reject(new Error("third"))
        : Promise.resolve({ sequences: [{ scored: [], drawn: [{ tokenId: 1, logprob: 0 }] }], gpuMs: null }),
  };
  const harness = new EngineHarness({ config: { runAhead: 4 }, runner: failing });
  harness.add("a", [1], LONG);
  await harness.engine.run();
  expect(harness.fatal.map((error) => error.message)).toEqual(["third"]);
  expect(harness.choice("a").tokenIds).toEqual([1, 1]);
});
