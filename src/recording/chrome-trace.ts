// A recording in the Trace Event Format (JSON), which Perfetto and chrome://tracing open.
//
//   process   tracks                                       slices
//   Engine    steps; counters of rows, time, sequences     one a step
//   Slots     one for each slot                            a sequence from its first step to its last, its steps within
//   Queue     as many as waited at once                    a sequence that waits, at first or preempted
//   Blocks    one for each block; counters                 the block's owners, from when to when
//   Kernels   the GPU's compute passes                     one a step, where the adapter has a clock
//             one for each kernel                          what it computes, in steps whose kernels were timed
//
// Slices of one track may lie within one another, but never overlap in part.

import type { KernelTime, SequenceId, StepEntry, StepReport } from "../protocol/reports.ts";
import { BlockLedger } from "./block-ledger.ts";
import type { RecordedEvent, Recording } from "./recording-format.ts";

/** A slice (X), a counter's value (C), or the name or place of a process or thread (M). Times are microseconds. */
export interface TraceEvent {
  readonly ph: "X" | "C" | "M";
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly args: Readonly<Record<string, unknown>>;
}

const PROCESSES = ["Engine", "Slots", "Queue", "Cache blocks", "Kernels"] as const;
type Process = (typeof PROCESSES)[number];

/** Returns the recording as JSON. It contains the texts of the answers, as the recording does. */
export function chromeTrace({ model, events }: Recording): string {
  const trace = new Trace(startOf(events));
  const slots = new SlotTracks(trace, wordsBySequence(events));
  const queue = new QueueTracks(trace);
  const blocks = new BlockTracks(trace, model);
  const kernels = new KernelTracks(trace, events);
  let lastMs = -Infinity;
  for (const event of events) {
    if (event.type === "step") {
      // Rounded times may overlap by a hair.
      const step: TimedStep = { ...event, beginMs: Math.min(event.atMs, Math.max(lastMs, event.atMs - event.stepMs)) };
      lastMs = event.atMs;
      addStep(trace, step);
      kernels.addStep(step);
      slots.addStep(step);
      queue.addStep(step);
      blocks.addStep(step);
    } else if (event.type === "request") {
      slots.addRequest(event);
      queue.addRequest(event);
      blocks.addRequest(event);
    }
  }
  slots.end();
  queue.end();
  blocks.end();
  const { name, mixture, activationDtype, kvCacheDtype, adapter } = model;
  const dtype = mixture ?? model.dtype;
  const dtypes = { dtype, activationDtype, kvCacheDtype };
  const otherData = { application: "Chorus", model: name, ...dtypes, adapter, kernels: kernels.words };
  return JSON.stringify({ traceEvents: trace.toEvents(), displayTimeUnit: "ms", otherData });
}

/** Returns the earliest time that an event names. */
function startOf(events: readonly RecordedEvent[]): number {
  let first = Infinity;
  for (const event of events) {
    if (event.type === "step") first = Math.min(first, event.atMs - event.stepMs);
    if (event.type === "request") first = Math.min(first, event.arrivalMs);
  }
  return Number.isFinite(first) ? first : 0;
}

const keyOf = ({ requestId, index }: SequenceId) => `${requestId}/${index}`;

/** A step that began after the previous one had ended. */
type TimedStep = StepReport & { readonly beginMs: number };

/** Returns the text that each step added to each sequence. */
function wordsBySequence(events: readonly RecordedEvent[]): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const event of events) {
    if (event.type !== "answered") continue;
    for (const answer of event.answers) {
      const key = `${event.step} ${keyOf(answer)}`;
      words.set(key, (words.get(key) ?? "") + answer.text);
    }
  }
  return words;
}

/** Collects events, names their tracks, and puts them in order. */
class Trace {
  readonly #startMs: number;
  readonly #events: TraceEvent[] = [];
  readonly #threads = new Map<string, TraceEvent>();
  /** The latest time of any event. */
  endMs: number;

  constructor(startMs: number) {
    this.#startMs = startMs;
    this.endMs = startMs;
  }

  slice(process: Process, thread: string, tid: number, name: string, from: number, to: number, args: object): void {
    const pid = this.#track(process, thread, tid);
    const ts = this.#us(from);
    this.endMs = Math.max(this.endMs, to);
    // Both ends are rounded, not the length: so a slice within another stays within it.
    this.#events.push({ ph: "X", name, pid, tid, ts, dur: Math.max(0, this.#us(to) - ts), args: { ...args } });
  }

  counter(process: Process, name: string, atMs: number, values: Readonly<Record<string, number>>): void {
    this.#events.push({ ph: "C", name, pid: pidOf(process), tid: 0, ts: this.#us(atMs), args: values });
  }

  /** Returns the events after the names, in order of time, and slices before those that they contain. */
  toEvents(): TraceEvent[] {
    const sorted = this.#events.toSorted((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0));
    const processes = PROCESSES.flatMap((name, i) => [
      named("process_name", i + 1, 0, { name }),
      named("process_sort_index", i + 1, 0, { sort_index: i }),
    ]);
    const sortedThreads = [...this.#threads.values()].flatMap((thread) => [
      thread,
      named("thread_sort_index", thread.pid, thread.tid, { sort_index: thread.tid }),
    ]);
    return [...processes, ...sortedThreads, ...sorted];
  }

  #track(process: Process, thread: string, tid: number): number {
    const pid = pidOf(process);
    const key = `${pid} ${tid}`;
    if (!this.#threads.has(key)) this.#threads.set(key, named("thread_name", pid, tid, { name: thread }));
    return pid;
  }

  #us(ms: number): number {
    return Math.max(0, Math.round(1000 * (ms - this.#startMs)));
  }
}

const pidOf = (process: Process) => 1 + PROCESSES.indexOf(process);

function named(name: string, pid: number, tid: number, args: TraceEvent["args"]): TraceEvent {
  return { ph: "M", name, pid, tid, ts: 0, args };
}

function addStep(trace: Trace, report: TimedStep): void {
  const { step, atMs, rows, promptRows, sampledTokens, entries, cpuMs, gpuMs, stepMs } = report;
  const args = { rows, promptRows, sampledTokens, sequences: entries.length, cpuMs, gpuMs };
  trace.slice("Engine", "Steps", 1, `step ${step}`, report.beginMs, atMs, args);
  trace.counter("Engine", "sequences", atMs, { running: report.numRunning, waiting: report.numWaiting });
  trace.counter("Engine", "rows", report.beginMs, { prompt: promptRows, decode: rows - promptRows });
  trace.counter("Engine", "ms", atMs, { step: stepMs, cpu: cpuMs, ...(gpuMs !== null && { gpu: gpuMs }) });
  const { kvBlocksUsed: used, kvBlocksCached: cached, kvBlocksTotal: total } = report;
  trace.counter("Cache blocks", "blocks", atMs, { used, cached, free: total - used - cached });
}

/** The GPU's work in each step: as a whole, and kernel by kernel if these were timed. */
class KernelTracks {
  readonly #trace: Trace;
  readonly #kernels: ReadonlyMap<number, readonly KernelTime[]>;
  /** The time at which each track is free again, by the kernel's name, in the order of the tracks. */
  readonly #endsMs = new Map<string, number>();
  #numSteps = 0;
  #numTimed = 0;

  constructor(trace: Trace, events: readonly RecordedEvent[]) {
    this.#trace = trace;
    this.#kernels = new Map(events.flatMap((event) => (event.type === "kernels" ? [[event.step, event.kernels]] : [])));
  }

  /** Says how many steps' kernels were timed. */
  get words(): string {
    return `timed in ${this.#numTimed} of ${this.#numSteps} steps`;
  }

  addStep({ step, beginMs, atMs, gpuMs }: TimedStep): void {
    this.#numSteps += 1;
    if (gpuMs === null) return;
    const kernels = this.#kernels.get(step) ?? [];
    // Only lengths are measured. The work ends before the step does, at the latest when its tokens are known.
    const fromMs = Math.max(beginMs, atMs - gpuMs);
    const words = kernels.length > 0 ? `${kernels.length}, each in a pass of its own` : "not timed";
    this.#trace.slice("Kernels", "GPU: whole step", 1, `step ${step}`, fromMs, atMs, { gpuMs, kernels: words });
    if (kernels.length > 0) this.#numTimed += 1;
    for (const one of kernels) this.#add(one, step, fromMs, atMs);
  }

  #add({ kernel, operation, startMs, ms }: KernelTime, step: number, fromMs: number, toMs: number): void {
    const takenMs = this.#endsMs.get(kernel) ?? -Infinity;
    const beginMs = Math.min(toMs, Math.max(takenMs, fromMs + startMs));
    const endMs = Math.min(toMs, Math.max(beginMs, fromMs + startMs + ms));
    this.#endsMs.set(kernel, endMs);
    const tid = 2 + [...this.#endsMs.keys()].indexOf(kernel);
    this.#trace.slice("Kernels", kernel, tid, operation, beginMs, endMs, { step, ms });
  }
}

interface OpenSequence {
  readonly id: SequenceId;
  readonly slot: number;
  readonly fromMs: number;
  toMs: number;
  steps: number;
}

/** The sequences of each slot. If slots were not recorded, a sequence gets the lowest free one. */
class SlotTracks {
  readonly #trace: Trace;
  readonly #words: ReadonlyMap<string, string>;
  readonly #open = new Map<string, OpenSequence>();

  constructor(trace: Trace, words: ReadonlyMap<string, string>) {
    this.#trace = trace;
    this.#words = words;
  }

  addStep(report: TimedStep): void {
    for (const id of report.preempted) this.#close((open) => keyOf(open.id) === keyOf(id));
    for (const entry of report.entries) {
      const slot = entry.slot >= 0 ? entry.slot : this.#laneOf(entry);
      const key = `${slot} ${keyOf(entry)}`;
      if (!this.#open.has(key)) this.#close((other) => other.slot === slot);
      const fromMs = report.beginMs;
      const { requestId, index } = entry;
      const open = this.#open.get(key) ?? { id: { requestId, index }, slot, fromMs, toMs: fromMs, steps: 0 };
      this.#open.set(key, open);
      open.toMs = report.atMs;
      open.steps += 1;
      const text = this.#words.get(`${report.step} ${keyOf(entry)}`) ?? "";
      const { start, rows, promptRows, cachedTokens, drafted, accepted } = entry;
      const args = { step: report.step, start, rows, promptRows, cachedTokens, drafted, accepted, text };
      this.#trace.slice("Slots", `slot ${slot}`, slot + 1, nameOf(entry, text), fromMs, report.atMs, args);
    }
    for (const { finishReason, ...entry } of report.entries) {
      if (finishReason !== null) this.#close((open) => keyOf(open.id) === keyOf(entry));
    }
  }

  addRequest(report: Extract<RecordedEvent, { type: "request" }>): void {
    if (report.status === "finished") this.#close((open) => keyOf(open.id) === keyOf(report));
  }

  end(): void {
    this.#close(() => true);
  }

  #laneOf(entry: StepEntry): number {
    const taken = new Set<number>();
    for (const { id, slot } of this.#open.values()) {
      if (keyOf(id) === keyOf(entry)) return slot;
      taken.add(slot);
    }
    return lowestFree(taken);
  }

  #close(isClosed: (open: OpenSequence) => boolean): void {
    for (const [key, open] of this.#open) {
      if (!isClosed(open)) continue;
      this.#open.delete(key);
      const { id, slot, fromMs, toMs, steps } = open;
      this.#trace.slice("Slots", `slot ${slot}`, slot + 1, keyOf(id), fromMs, toMs, { ...id, steps });
    }
  }
}

function nameOf({ rows, promptRows, drafted }: StepEntry, text: string): string {
  if (promptRows > 0 || rows - drafted > 1) return `prompt, ${rows} tokens`;
  return text === "" ? "decode" : text;
}

/** The waiting sequences. A lane has one at a time. */
class QueueTracks {
  readonly #trace: Trace;
  readonly #waiting = new Map<string, { readonly lane: number; readonly fromMs: number; readonly why: string }>();
  /** The time at which each lane is free again. */
  readonly #laneEndsMs: number[] = [];

  constructor(trace: Trace) {
    this.#trace = trace;
  }

  addRequest(report: Extract<RecordedEvent, { type: "request" }>): void {
    if (report.status === "queued") this.#begin(keyOf(report), report.arrivalMs, "queued");
    if (report.status === "finished") this.#end(keyOf(report), report.finishedMs ?? report.arrivalMs);
  }

  addStep(report: TimedStep): void {
    for (const id of report.preempted) this.#begin(keyOf(id), report.beginMs, "preempted");
    for (const entry of report.entries) this.#end(keyOf(entry), report.beginMs);
  }

  end(): void {
    for (const key of this.#waiting.keys()) this.#end(key, this.#trace.endMs);
  }

  #begin(key: string, fromMs: number, why: string): void {
    if (this.#waiting.has(key)) return;
    const taken = new Set([...this.#waiting.values()].map((one) => one.lane));
    for (const [lane, endMs] of this.#laneEndsMs.entries()) if (endMs > fromMs) taken.add(lane);
    const lane = lowestFree(taken);
    this.#waiting.set(key, { lane, fromMs, why });
  }

  #end(key: string, toMs: number): void {
    const one = this.#waiting.get(key);
    if (one === undefined) return;
    this.#waiting.delete(key);
    const { lane, fromMs, why } = one;
    this.#laneEndsMs[lane] = toMs;
    if (toMs > fromMs) this.#trace.slice("Queue", `place ${lane + 1}`, lane + 1, key, fromMs, toMs, { why });
  }
}

/** The owners of each block. */
class BlockTracks {
  readonly #trace: Trace;
  readonly #ledger: BlockLedger;
  readonly #used = new Map<number, { readonly by: SequenceId; readonly fromMs: number }>();
  #nowMs = 0;
  #stepBeginMs = 0;

  constructor(trace: Trace, model: Recording["model"]) {
    this.#trace = trace;
    this.#ledger = new BlockLedger(model, false, {
      used: (block, by) => void this.#used.set(block, { by, fromMs: this.#stepBeginMs }),
      freed: (block, when) => this.#free(block, when === "before" ? this.#stepBeginMs : this.#nowMs),
    });
  }

  addStep(report: TimedStep): void {
    this.#stepBeginMs = report.beginMs;
    this.#nowMs = report.atMs;
    this.#ledger.addStep(report);
  }

  addRequest(report: Extract<RecordedEvent, { type: "request" }>): void {
    if (report.finishedMs !== null) this.#nowMs = Math.max(this.#nowMs, report.finishedMs);
    this.#ledger.addRequest(report);
  }

  end(): void {
    for (const block of this.#used.keys()) this.#free(block, this.#trace.endMs);
  }

  #free(block: number, toMs: number): void {
    const use = this.#used.get(block);
    this.#used.delete(block);
    if (use === undefined) return;
    const { by, fromMs } = use;
    this.#trace.slice("Cache blocks", `block ${block}`, block + 1, keyOf(by), fromMs, toMs, { ...by });
  }
}

function lowestFree(taken: ReadonlySet<number>): number {
  let free = 0;
  while (taken.has(free)) free += 1;
  return free;
}
