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

type RequestEvent = Extract<RecordedEvent, { type: "request" }>;

/** A step that began after the previous one had ended. */
type TimedStep = StepReport & { readonly beginMs: number };

/** Draws one subject of a run, event by event. */
interface Tracks {
  readonly addStep: (step: TimedStep) => void;
  readonly addRequest?: (report: RequestEvent) => void;
  /** Draws what is still open when the recording ends. */
  readonly end?: () => void;
}

/** Returns the recording as JSON. It contains the texts of the answers, as the recording does. */
export function chromeTrace({ model, events }: Recording): string {
  const trace = new Trace(startOf(events));
  const kernels = kernelTracks(trace, events);
  const subjects: readonly Tracks[] = [
    { addStep: (step) => addStep(trace, step) },
    kernels,
    slotTracks(trace, wordsBySequence(events)),
    queueTracks(trace),
    blockTracks(trace, model),
  ];
  let lastMs = -Infinity;
  for (const event of events) {
    if (event.type === "step") {
      // Rounded times may overlap by a hair.
      const step: TimedStep = { ...event, beginMs: Math.min(event.atMs, Math.max(lastMs, event.atMs - event.stepMs)) };
      lastMs = event.atMs;
      for (const tracks of subjects) tracks.addStep(step);
    } else if (event.type === "request") {
      for (const tracks of subjects) tracks.addRequest?.(event);
    }
  }
  for (const tracks of subjects) tracks.end?.();
  const { name, mixture, activationDtype, kvCacheDtype, adapter } = model;
  const dtype = mixture ?? model.dtype;
  const dtypes = { dtype, activationDtype, kvCacheDtype };
  const otherData = { application: "Chorus", model: name, ...dtypes, adapter, kernels: kernels.words() };
  return JSON.stringify({ traceEvents: trace.toEvents(), displayTimeUnit: "ms", otherData });
}

function startOf(events: readonly RecordedEvent[]): number {
  let first = Infinity;
  for (const event of events) {
    if (event.type === "step") first = Math.min(first, event.atMs - event.stepMs);
    if (event.type === "request") first = Math.min(first, event.arrivalMs);
  }
  return Number.isFinite(first) ? first : 0;
}

const keyOf = ({ requestId, index }: SequenceId) => `${requestId}/${index}`;

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
function kernelTracks(trace: Trace, events: readonly RecordedEvent[]) {
  const timed = new Map(events.flatMap((event) => (event.type === "kernels" ? [[event.step, event.kernels]] : [])));
  /** The time at which each track is free again, by the kernel's name, in the order of the tracks. */
  const endsMs = new Map<string, number>();
  let numSteps = 0;
  let numTimed = 0;
  const add = ({ kernel, operation, startMs, ms }: KernelTime, step: number, fromMs: number, toMs: number) => {
    const takenMs = endsMs.get(kernel) ?? -Infinity;
    const beginMs = Math.min(toMs, Math.max(takenMs, fromMs + startMs));
    const endMs = Math.min(toMs, Math.max(beginMs, fromMs + startMs + ms));
    endsMs.set(kernel, endMs);
    const tid = 2 + [...endsMs.keys()].indexOf(kernel);
    trace.slice("Kernels", kernel, tid, operation, beginMs, endMs, { step, ms });
  };
  return {
    /** Says how many steps' kernels were timed. */
    words: () => `timed in ${numTimed} of ${numSteps} steps`,
    addStep({ step, beginMs, atMs, gpuMs }: TimedStep) {
      numSteps += 1;
      if (gpuMs === null) return;
      const kernels = timed.get(step) ?? [];
      // Only lengths are measured. The work ends before the step does, at the latest when its tokens are known.
      const fromMs = Math.max(beginMs, atMs - gpuMs);
      const words = kernels.length > 0 ? `${kernels.length}, each in a pass of its own` : "not timed";
      trace.slice("Kernels", "GPU: whole step", 1, `step ${step}`, fromMs, atMs, { gpuMs, kernels: words });
      if (kernels.length > 0) numTimed += 1;
      for (const one of kernels) add(one, step, fromMs, atMs);
    },
  };
}

interface OpenSequence {
  readonly id: SequenceId;
  readonly slot: number;
  readonly fromMs: number;
  toMs: number;
  steps: number;
}

function slotTracks(trace: Trace, words: ReadonlyMap<string, string>): Tracks {
  const open = new Map<string, OpenSequence>();
  const close = (isClosed: (one: OpenSequence) => boolean) => {
    for (const [key, one] of open) {
      if (!isClosed(one)) continue;
      open.delete(key);
      const { id, slot, fromMs, toMs, steps } = one;
      trace.slice("Slots", `slot ${slot}`, slot + 1, keyOf(id), fromMs, toMs, { ...id, steps });
    }
  };
  const closeSequence = (id: SequenceId) => close((one) => keyOf(one.id) === keyOf(id));
  return {
    addStep({ step, beginMs: fromMs, atMs, preempted, entries }) {
      for (const id of preempted) closeSequence(id);
      for (const entry of entries) {
        const { requestId, index, slot } = entry;
        const key = `${slot} ${keyOf(entry)}`;
        if (!open.has(key)) close((other) => other.slot === slot);
        const one = open.get(key) ?? { id: { requestId, index }, slot, fromMs, toMs: fromMs, steps: 0 };
        open.set(key, one);
        one.toMs = atMs;
        one.steps += 1;
        const text = words.get(`${step} ${keyOf(entry)}`) ?? "";
        const { start, rows, promptRows, cachedTokens, drafted, accepted } = entry;
        const args = { step, start, rows, promptRows, cachedTokens, drafted, accepted, text };
        trace.slice("Slots", `slot ${slot}`, slot + 1, nameOf(entry, text), fromMs, atMs, args);
      }
      for (const entry of entries) if (entry.finishReason !== null) closeSequence(entry);
    },
    addRequest(report) {
      if (report.status === "finished") closeSequence(report);
    },
    end: () => close(() => true),
  };
}

function nameOf({ rows, promptRows, drafted }: StepEntry, text: string): string {
  if (promptRows > 0 || rows - drafted > 1) return `prompt, ${rows} tokens`;
  return text === "" ? "decode" : text;
}

/** The waiting sequences. A lane has one at a time. */
function queueTracks(trace: Trace): Tracks {
  const waiting = new Map<string, { readonly lane: number; readonly fromMs: number; readonly why: string }>();
  /** The time at which each lane is free again; Infinity while a sequence waits there. */
  const laneEndsMs: number[] = [];
  const begin = (key: string, fromMs: number, why: string) => {
    if (waiting.has(key)) return;
    const free = laneEndsMs.findIndex((endMs) => endMs <= fromMs);
    const lane = free < 0 ? laneEndsMs.length : free;
    laneEndsMs[lane] = Infinity;
    waiting.set(key, { lane, fromMs, why });
  };
  const end = (key: string, toMs: number) => {
    const one = waiting.get(key);
    if (one === undefined) return;
    waiting.delete(key);
    const { lane, fromMs, why } = one;
    laneEndsMs[lane] = toMs;
    if (toMs > fromMs) trace.slice("Queue", `place ${lane + 1}`, lane + 1, key, fromMs, toMs, { why });
  };
  return {
    addStep({ preempted, entries, beginMs }) {
      for (const id of preempted) begin(keyOf(id), beginMs, "preempted");
      for (const entry of entries) end(keyOf(entry), beginMs);
    },
    addRequest(report) {
      if (report.status === "queued") begin(keyOf(report), report.arrivalMs, "queued");
      if (report.status === "finished") end(keyOf(report), report.finishedMs ?? report.arrivalMs);
    },
    end: () => [...waiting.keys()].forEach((key) => end(key, trace.endMs)),
  };
}

function blockTracks(trace: Trace, model: Recording["model"]): Tracks {
  const used = new Map<number, { readonly by: SequenceId; readonly fromMs: number }>();
  let [nowMs, stepBeginMs] = [0, 0];
  const free = (block: number, toMs: number) => {
    const use = used.get(block);
    used.delete(block);
    if (use === undefined) return;
    const { by, fromMs } = use;
    trace.slice("Cache blocks", `block ${block}`, block + 1, keyOf(by), fromMs, toMs, { ...by });
  };
  const ledger = new BlockLedger(model, false, {
    used: (block, by) => void used.set(block, { by, fromMs: stepBeginMs }),
    freed: (block, when) => free(block, when === "before" ? stepBeginMs : nowMs),
  });
  return {
    addStep(step) {
      [nowMs, stepBeginMs] = [step.atMs, step.beginMs];
      ledger.addStep(step);
    },
    addRequest(report) {
      if (report.finishedMs !== null) nowMs = Math.max(nowMs, report.finishedMs);
      ledger.addRequest(report);
    },
    end: () => [...used.keys()].forEach((block) => free(block, trace.endMs)),
  };
}
