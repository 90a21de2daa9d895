import { describe, expect, it } from "vitest";
import { ROOMY, samplingParams } from "../../../tests/fakes/engine-harness.ts";
import type { SchedulerConfig } from "./scheduler-config.ts";
import { Scheduler } from "./scheduler.ts";
import { Sequence, type ScheduledSequence } from "../sequence.ts";

const CONFIG: SchedulerConfig = { ...ROOMY, maxNumSeqs: 8, maxNumBatchedTokens: 16, blockSize: 4, numGpuBlocks: 64 };

function createScheduler(changes: Partial<SchedulerConfig> = {}): Scheduler {
  return new Scheduler({ ...CONFIG, ...changes });
}

function sequenceOf(requestId: string, length: number, arrivalMs = 0): Sequence {
  const prompt = Array.from({ length }, (_, position) => position);
  return new Sequence({ requestId, index: 0, params: samplingParams(), prompt, arrivalMs });
}

/** Queues sequences of the given prompt lengths, named a, b, c ... */
function addSequences(scheduler: Scheduler, ...promptLengths: number[]): Sequence[] {
  return promptLengths.map((length, i) => {
    const sequence = sequenceOf(String.fromCharCode(97 + i), length, i);
    scheduler.add(sequence);
    return sequence;
  });
}

/** Plans a step and gives whoever samples a token. Returns the plan as "name start+count", with "*" where it samples. */
function step(scheduler: Scheduler): string[] {
  const plan = scheduler.schedule(0, true);
  scheduler.assertConsistent();
  sample(plan);
  return show(plan);
}

/** The tokens of a plan become known. */
function sample(plan: ScheduledSequence[]): void {
  for (const { sequence, samples } of plan) {
    if (!samples) continue;
    sequence.append(0);
  }
}

function show(plan: ScheduledSequence[]): string[] {
  return plan.map(
    ({ sequence, start, count, samples }) => `${sequence.requestId} ${start}+${count}${samples ? "*" : ""}`,
  );
}

describe("Scheduler", () => {
  it("gives prompts no more rows than their bound while others stream", () => {
    const scheduler = createScheduler();
    scheduler.setPromptRows((streamRows) => 4 - streamRows);
    addSequences(scheduler, 5);
    expect(step(scheduler)).toEqual(["a 0+5*"]);
    const [long, short] = [7, 2].map((length, i) => sequenceOf(`l${i}`, length));
    for (const sequence of [long, short]) if (sequence) scheduler.add(sequence);
    expect(step(scheduler)).toEqual(["a 5+1*", "l0 0+3"]);
    expect(step(scheduler)).toEqual(["a 6+1*", "l0 3+3"]);
    expect(step(scheduler)).toEqual(["a 7+1*", "l0 6+1*", "l1 0+2*"]);
  });

  it("counts drafts among the rows of streams, and not a stream that waits for its tokens", () => {
    const scheduler = createScheduler({ speculation: { method: "ngram", numTokens: 3, minMatch: 2 } });
    scheduler.setPromptRows((streamRows) => 8 - streamRows);
    const prompt = [1, 0, 2, 3, 1]; // and 0, which it samples: then 2, 3 and 1 may follow
    scheduler.add(new Sequence({ requestId: "a", index: 0, params: samplingParams(), prompt, arrivalMs: 0 }));
    step(scheduler);
    scheduler.add(sequenceOf("long", 16));
    expect(show(scheduler.schedule(0, true))).toEqual(["a 5+4*", "long 0+4"]);
    expect(show(scheduler.schedule(0, true))).toEqual(["long 4+8"]);
  });

  it("gives a short prompt all its rows in one step, and samples from the last", () => {
    const scheduler = createScheduler();
    addSequences(scheduler, 5);
    expect(step(scheduler)).toEqual(["a 0+5*"]);
    expect(step(scheduler)).toEqual(["a 5+1*"]);
    expect(step(scheduler)).toEqual(["a 6+1*"]);
  });

  it("cuts a prompt into chunks of the budget and samples only from the last row of the last", () => {
    const scheduler = createScheduler();
    addSequences(scheduler, 35);
    expect(step(scheduler)).toEqual(["a 0+16"]);
    expect(step(scheduler)).toEqual(["a 16+16"]);
    expect(step(scheduler)).toEqual(["a 32+3*"]);
  });

  it("mixes prompts and decoding in one step, running sequences first", () => {
    const scheduler = createScheduler();
    addSequences(scheduler, 4, 3, 20);
    expect(step(scheduler)).toEqual(["a 0+4*", "b 0+3*", "c 0+9"]);
    expect(step(scheduler)).toEqual(["a 4+1*", "b 3+1*", "c 9+11*"]);
  });

  it("never goes over the budget", () => {
    const scheduler = createScheduler({ maxNumBatchedTokens: 3 });
    addSequences(scheduler, 2, 2, 2, 2, 2);
    for (let i = 0; i < 20; i++) {
      const plan = scheduler.schedule(0, true);
      expect(plan.reduce((sum, entry) => sum + entry.count, 0)).toBeLessThanOrEqual(3);
      sample(plan);
    }
  });

  it("under balanced expects what answers ended so far had, not what they might have", () => {
    const scheduler = createScheduler({ schedulingPolicy: "balanced", maxNumSeqs: 1 });
    const add = (requestId: string, promptLength: number, maxTokens: number) => {
      const prompt = Array.from({ length: promptLength }, () => 1);
      scheduler.add(new Sequence({ requestId, index: 0, params: samplingParams({ maxTokens }), prompt, arrivalMs: 0 }));
    };
    const firstOfTwo = () => {
      add("long if it goes on to its end", 1, 100);
      add("long prompt", 48, 4);
      scheduler.schedule(0, true);
      const first = scheduler.running[0]?.requestId;
      for (const id of scheduler.waitingIds(2)) expect(id).not.toBe(first);
      return first;
    };
    const endAll = () => {
      while (scheduler.numRunning + scheduler.numWaiting > 0) {
        sample(scheduler.schedule(0, true));
        const first = scheduler.running[0];
        if (first?.numOutputTokens === 2) scheduler.finish(first, "stop");
      }
    };
    expect(firstOfTwo()).toBe("long prompt");
    endAll();
    expect(firstOfTwo()).toBe("long if it goes on to its end");
  });

  it("admits no more sequences than there are slots, in the order in which they came", () => {
    const scheduler = createScheduler({ maxNumSeqs: 2 });
    const [a] = addSequences(scheduler, 2, 2, 2);
    expect(step(scheduler)).toEqual(["a 0+2*", "b 0+2*"]);
    scheduler.finish(a!, "length");
    expect(step(scheduler)).toEqual(["b 2+1*", "c 0+2*"]);
  });

  it("gives each running sequence a slot of its own and reuses those of the ended", () => {
    const scheduler = createScheduler({ maxNumSeqs: 3 });
    const [a, b, c, d] = addSequences(scheduler, 1, 1, 1, 1);
    step(scheduler);
    expect([a!.slot, b!.slot, c!.slot, d!.slot]).toEqual([0, 1, 2, null]);
    scheduler.finish(b!, "stop");
    step(scheduler);
    expect([b!.slot, d!.slot]).toEqual([null, 1]);
  });

  it("counts rows as computed when they are planned, not when their results are known", () => {
    const scheduler = createScheduler();
    const [a] = addSequences(scheduler, 20);
    scheduler.schedule(0, false);
    expect(a!.numComputedTokens).toBe(16);
    expect(show(scheduler.schedule(0, false))).toEqual(["a 16+4*"]);
  });

  it("runs ahead: gives a sequence its next row before the token of that row is known", () => {
    const scheduler = createScheduler();
    const [a] = addSequences(scheduler, 2);
    const plans = [scheduler.schedule(0, true), scheduler.schedule(0, false), scheduler.schedule(0, false)];
    expect(plans.map(show)).toEqual([["a 0+2*"], ["a 2+1*"], ["a 3+1*"]]);
    expect(a).toMatchObject({ numPlaceholders: 3, numOutputTokens: 0 });
  });

  it("does not run beyond the last token that a sequence may have", () => {
    const scheduler = createScheduler();
    const params = samplingParams({ maxTokens: 2 });
    scheduler.add(new Sequence({ requestId: "a", index: 0, params, prompt: [1], arrivalMs: 0 }));
    const plans = [0, 1, 2].map(() => show(scheduler.schedule(0, false)));
    expect(plans).toEqual([["a 0+1*"], ["a 1+1*"], []]);
  });

  it("waits for what is in flight before anybody is preempted", () => {
    const scheduler = createScheduler({ numGpuBlocks: 3 });
    const [a, b] = addSequences(scheduler, 4, 3);
    expect(step(scheduler)).toEqual(["a 0+4*", "b 0+3*"]);
    expect(step(scheduler)).toEqual(["a 4+1*", "b 3+1*"]);
    expect(show(scheduler.schedule(0, false))).toEqual(["a 5+1*"]);
    // a has room for more, but while it goes on nobody would ever know whether b can.
    expect(scheduler.schedule(0, false)).toEqual([]);
    expect([b!.isRunning, scheduler.numPreemptions]).toEqual([true, 0]);
    // The step in flight ended a, so nobody is preempted.
    scheduler.finish(a!, "stop");
    expect(step(scheduler)).toEqual(["b 4+1*"]);
    expect(scheduler.numPreemptions).toBe(0);
  });

  it("keeps a row back for everybody who runs, however long the prompts before them are", () => {
    const scheduler = createScheduler();
    addSequences(scheduler, 3, 60, 2);
    expect(step(scheduler)).toEqual(["a 0+3*", "b 0+13"]);
    expect(step(scheduler)).toEqual(["a 3+1*", "b 13+15"]);
    expect(step(scheduler)).toEqual(["a 4+1*", "b 28+15"]);
    const [d] = addSequences(scheduler, 1);
    expect(d!).toMatchObject({ isRunning: false, isFinished: false });
    step(scheduler); // b 43+15
    expect(step(scheduler)).toEqual(["a 6+1*", "b 58+2*", "c 0+2*", "a 0+1*"]);
  });

  it("gives a long prompt no more rows of a step than its share", () => {
    const scheduler = createScheduler({ longPrefillTokenThreshold: 5 });
    addSequences(scheduler, 12, 7);
    expect(step(scheduler)).toEqual(["a 0+5", "b 0+5"]);
    expect(step(scheduler)).toEqual(["a 5+5", "b 5+2*"]);
    expect(step(scheduler)).toEqual(["a 10+2*", "b 7+1*"]);
  });

  it("keeps to lowered limits, but never starves running sequences", () => {
    const scheduler = createScheduler();
    addSequences(scheduler, 2, 2, 2);
    step(scheduler);
    scheduler.setLimits({ maxNumSeqs: 1, maxNumBatchedTokens: 1 });
    addSequences(scheduler, 9);
    expect(step(scheduler)).toEqual(["a 2+1*", "b 2+1*", "c 2+1*"]);
    scheduler.setLimits({ maxNumSeqs: 1000, maxNumBatchedTokens: 1000 });
    expect(step(scheduler)).toEqual(["a 3+1*", "b 3+1*", "c 3+1*", "a 0+9*"]);
  });

  it("admits a prompt only when all of it fits, and lets nobody overtake it", () => {
    const scheduler = createScheduler({ numGpuBlocks: 4 });
    const [a] = addSequences(scheduler, 8, 12, 1);
    expect(step(scheduler)).toEqual(["a 0+8*"]);
    expect(scheduler.numWaiting).toBe(2);
    scheduler.finish(a!, "stop");
    expect(step(scheduler)).toEqual(["b 0+12*", "c 0+1*"]);
  });

  it("preempts the youngest when the pool is dry, and resumes it with all its tokens", () => {
    const scheduler = createScheduler({ numGpuBlocks: 3 });
    const [a, b] = addSequences(scheduler, 4, 3);
    expect(step(scheduler)).toEqual(["a 0+4*", "b 0+3*"]);
    expect(step(scheduler)).toEqual(["a 4+1*", "b 3+1*"]);
    // b has 5 tokens now and needs a second block; there is none, and b is itself the youngest.
    expect(step(scheduler)).toEqual(["a 5+1*"]);
    expect(b).toMatchObject({ isFinished: false, slot: null, blockTable: [], numComputedTokens: 0 });
    expect(scheduler.numPreemptions).toBe(1);
    scheduler.finish(a!, "stop");
    expect(step(scheduler)).toEqual(["b 0+5*"]);
  });

  it("puts the preempted back at the head of the queue", () => {
    const scheduler = createScheduler({ numGpuBlocks: 2, maxNumSeqs: 2 });
    addSequences(scheduler, 4, 3, 1);
    step(scheduler);
    expect(step(scheduler)).toEqual(["a 4+1*"]);
    expect([scheduler.numPreemptions, scheduler.numWaiting]).toEqual([1, 2]);
    scheduler.finish(scheduler.schedule(0, true)[0]!.sequence, "stop");
    expect(step(scheduler)).toEqual(["b 0+4*", "c 0+1*"]);
  });

  it("admits nobody in a step that preempted", () => {
    const scheduler = createScheduler({ numGpuBlocks: 3 });
    const [, b] = addSequences(scheduler, 4, 7);
    step(scheduler);
    const late = new Sequence({ requestId: "late", index: 0, params: samplingParams(), prompt: [1], arrivalMs: 9 });
    scheduler.add(late);
    // b gives its two blocks up and a needs one of them; the other would do for "late", but b comes first.
    expect(step(scheduler)).toEqual(["a 4+1*"]);
    expect(b!).toMatchObject({ isRunning: false, isFinished: false });
    expect(scheduler.pool.numFree).toBe(1);
  });

  it("takes everything back from a sequence that ends, whatever its state", () => {
    const scheduler = createScheduler({ maxNumSeqs: 1 });
    const [running, waiting] = addSequences(scheduler, 9, 9);
    step(scheduler);
    scheduler.finish(waiting!, "abort");
    scheduler.finish(running!, "stop");
    scheduler.assertConsistent();
    expect([scheduler.numRunning, scheduler.numWaiting, scheduler.pool.numUsed]).toEqual([0, 0, 0]);
    expect(running!.finishReason).toBe("stop");
  });

  it("ends a sequence once: the first reason stays", () => {
    const scheduler = createScheduler();
    const [a, b] = addSequences(scheduler, 3, 3);
    step(scheduler);
    scheduler.finish(a!, "stop");
    scheduler.finish(a!, "abort");
    scheduler.assertConsistent();
    expect(a!.finishReason).toBe("stop");
    expect(step(scheduler)).toEqual(["b 3+1*"]);
    expect(b!.isRunning).toBe(true);
  });

  it("notices a slot that two sequences hold", () => {
    const scheduler = createScheduler();
    const [a, b] = addSequences(scheduler, 3, 3);
    step(scheduler);
    Object.assign(b!, { slot: a!.slot });
    expect(() => scheduler.assertConsistent()).toThrow("two sequences hold the same");
  });
});
