// Packs messages to the page. Structured clone writes the name of every field of every object, so each step's texts and report
// are posted as flat lists instead.

import type { FinishReason } from "./openai.ts";
import type { SequenceId, StepEntry, StepReport } from "./reports.ts";
import { EMPTY_MESSAGE, type EngineMessage, type RequestEvent } from "./service.ts";

export interface PackedMessage {
  /** Ticket, choice, text, ticket, ...: all events, if all are texts. */
  readonly texts?: readonly (number | string)[];
  readonly steps?: PackedSteps;
  /** Fields that are not empty. */
  readonly rest?: Partial<EngineMessage>;
}

interface PackedSteps {
  readonly count: number;
  readonly names: readonly string[];
  readonly numbers: readonly number[];
}

const FINISH_REASONS: readonly (FinishReason | null)[] = [null, "stop", "length", "abort"];

export function pack(message: EngineMessage): PackedMessage {
  const { events, steps } = message;
  const texts = packTexts(events);
  const rest =
    hasMore(message) || texts === null ? filled({ ...message, steps: [], events: texts ? [] : events }) : null;
  return {
    ...(texts !== null && texts.length > 0 && { texts }),
    ...(steps.length > 0 && { steps: packSteps(steps) }),
    ...(rest !== null && { rest }),
  };
}

export function unpack({ texts, steps, rest }: PackedMessage): EngineMessage {
  return {
    ...EMPTY_MESSAGE,
    ...(texts && { events: unpackTexts(texts) }),
    ...(steps && { steps: unpackSteps(steps) }),
    ...rest,
  };
}

/** Returns whether a message has more than events and steps: few have. */
function hasMore({ requests, words, kernels, alerts, devices, configs, fatal }: EngineMessage): boolean {
  const numOthers = requests.length + words.length + kernels.length + alerts.length + devices.length + configs.length;
  return numOthers > 0 || fatal !== null;
}

function filled(message: EngineMessage): Partial<EngineMessage> {
  const isFilled = (value: unknown) => (Array.isArray(value) ? value.length > 0 : value !== null);
  return Object.fromEntries(Object.entries(message).filter(([, value]) => isFilled(value)));
}

function packTexts(events: readonly RequestEvent[]): (number | string)[] | null {
  const texts: (number | string)[] = [];
  for (const event of events) {
    if (event.type !== "text") return null; // the order of events stays
    texts.push(event.ticket, event.choice, event.text);
  }
  return texts;
}

function unpackTexts(texts: readonly (number | string)[]): RequestEvent[] {
  const events: RequestEvent[] = [];
  for (let at = 0; at < texts.length; at += 3) {
    const [ticket, choice, text] = [texts[at] as number, texts[at + 1] as number, texts[at + 2] as string];
    events.push({ type: "text", ticket, choice, text });
  }
  return events;
}

function packSteps(steps: readonly StepReport[]): PackedSteps {
  const names: string[] = [];
  const numbers: number[] = [];
  for (const step of steps) packStep(step, names, numbers);
  return { count: steps.length, names, numbers };
}

function unpackSteps({ count, names, numbers }: PackedSteps): StepReport[] {
  const reader = new Reader(names, numbers);
  return Array.from({ length: count }, () => unpackStep(reader));
}

/** Packs a step's fields in the order in which unpackStep reads them. */
function packStep(report: StepReport, names: string[], numbers: number[]): void {
  const { entries, waitingIds, preempted } = report;
  numbers.push(report.step, report.atMs, report.stepMs, report.cpuMs, report.gpuMs ?? NaN);
  numbers.push(report.rows, report.promptRows, report.sampledTokens, report.maxNumSeqs, report.maxNumBatchedTokens);
  numbers.push(report.numRunning, report.numWaiting, report.kvBlocksUsed, report.numResidentTokens);
  numbers.push(report.kvBlocksCached, report.kvBlocksTotal, report.preemptionsTotal);
  numbers.push(report.prefixCacheQueriesTotal, report.prefixCacheHitsTotal);
  numbers.push(entries.length, waitingIds.length, preempted.length);
  for (const entry of entries) packEntry(entry, names, numbers);
  for (const id of waitingIds) names.push(id);
  for (const { requestId, index } of preempted) {
    names.push(requestId);
    numbers.push(index);
  }
}

function packEntry(entry: StepEntry, names: string[], numbers: number[]): void {
  names.push(entry.requestId);
  numbers.push(entry.index, entry.start, entry.rows, entry.promptRows, entry.cachedTokens, entry.sampled ? 1 : 0);
  numbers.push(entry.drafted, entry.accepted, FINISH_REASONS.indexOf(entry.finishReason), entry.slot);
  numbers.push(entry.firstBlock, entry.blocksGivenBack, entry.blocks.length);
  for (const block of entry.blocks) numbers.push(block);
}

class Reader {
  readonly #names: readonly string[];
  readonly #numbers: readonly number[];
  #name = 0;
  #number = 0;

  constructor(names: readonly string[], numbers: readonly number[]) {
    this.#names = names;
    this.#numbers = numbers;
  }

  name(): string {
    return this.#names[this.#name++] ?? "";
  }

  number(): number {
    return this.#numbers[this.#number++] ?? NaN;
  }

  list<T>(length: number, read: (reader: Reader) => T): T[] {
    return Array.from({ length }, () => read(this));
  }
}

function unpackStep(from: Reader): StepReport {
  const scalars = {
    step: from.number(),
    atMs: from.number(),
    stepMs: from.number(),
    cpuMs: from.number(),
    gpuMs: numberOrNull(from.number()),
    rows: from.number(),
    promptRows: from.number(),
    sampledTokens: from.number(),
    maxNumSeqs: from.number(),
    maxNumBatchedTokens: from.number(),
    numRunning: from.number(),
    numWaiting: from.number(),
    kvBlocksUsed: from.number(),
    numResidentTokens: from.number(),
    kvBlocksCached: from.number(),
    kvBlocksTotal: from.number(),
    preemptionsTotal: from.number(),
    prefixCacheQueriesTotal: from.number(),
    prefixCacheHitsTotal: from.number(),
  };
  const [numEntries, numWaitingIds, numPreempted] = [from.number(), from.number(), from.number()];
  return {
    ...scalars,
    entries: from.list(numEntries, unpackEntry),
    waitingIds: from.list(numWaitingIds, (reader) => reader.name()),
    preempted: from.list(numPreempted, (reader): SequenceId => ({ requestId: reader.name(), index: reader.number() })),
  };
}

function unpackEntry(from: Reader): StepEntry {
  return {
    requestId: from.name(),
    index: from.number(),
    start: from.number(),
    rows: from.number(),
    promptRows: from.number(),
    cachedTokens: from.number(),
    sampled: from.number() === 1,
    drafted: from.number(),
    accepted: from.number(),
    finishReason: FINISH_REASONS[from.number()] ?? null,
    slot: from.number(),
    firstBlock: from.number(),
    blocksGivenBack: from.number(),
    blocks: from.list(from.number(), (reader) => reader.number()),
  };
}

function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
