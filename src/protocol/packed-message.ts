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
  const rest = filled({ ...message, steps: [], events: texts ? [] : events });
  return {
    ...(texts !== null && texts.length > 0 && { texts }),
    ...(steps.length > 0 && { steps: packSteps(steps) }),
    ...(Object.keys(rest).length > 0 && { rest }),
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
  const writer = new Codec(names, numbers, true);
  for (const step of steps) passStep(writer, step);
  return { count: steps.length, names, numbers };
}

function unpackSteps({ count, names, numbers }: PackedSteps): StepReport[] {
  // Lists that are read are not written to, and what is passed is not looked at.
  const reader = new Codec(names as string[], numbers as number[], false);
  return Array.from({ length: count }, () => passStep(reader, NOTHING as StepReport));
}

const NOTHING = {};

/** Takes fields one after the other, or returns what was taken. One class for both: two would make each call slower. */
class Codec {
  readonly #names: string[];
  readonly #numbers: number[];
  readonly #isWriting: boolean;
  #name = 0;
  #number = 0;

  constructor(names: string[], numbers: number[], isWriting: boolean) {
    this.#names = names;
    this.#numbers = numbers;
    this.#isWriting = isWriting;
  }

  name(value: string): string {
    if (!this.#isWriting) return this.#names[this.#name++] ?? "";
    this.#names.push(value);
    return value;
  }

  number(value: number): number {
    if (!this.#isWriting) return this.#numbers[this.#number++] ?? NaN;
    this.#numbers.push(value);
    return value;
  }

  list<T>(items: readonly T[], pass: (io: Codec, item: T) => T): readonly T[] {
    if (!this.#isWriting) return Array.from({ length: this.number(NaN) }, () => pass(this, NOTHING as T));
    this.number(items.length);
    for (const item of items) pass(this, item);
    return items;
  }
}

/** Passes a step's fields in their order: each is stated once, for both directions. */
function passStep(io: Codec, step: StepReport): StepReport {
  return {
    step: io.number(step.step),
    atMs: io.number(step.atMs),
    stepMs: io.number(step.stepMs),
    cpuMs: io.number(step.cpuMs),
    gpuMs: numberOrNull(io.number(step.gpuMs ?? NaN)),
    rows: io.number(step.rows),
    promptRows: io.number(step.promptRows),
    sampledTokens: io.number(step.sampledTokens),
    maxNumSeqs: io.number(step.maxNumSeqs),
    maxNumBatchedTokens: io.number(step.maxNumBatchedTokens),
    numRunning: io.number(step.numRunning),
    numWaiting: io.number(step.numWaiting),
    kvBlocksUsed: io.number(step.kvBlocksUsed),
    numResidentTokens: io.number(step.numResidentTokens),
    kvBlocksCached: io.number(step.kvBlocksCached),
    kvBlocksTotal: io.number(step.kvBlocksTotal),
    preemptionsTotal: io.number(step.preemptionsTotal),
    prefixCacheQueriesTotal: io.number(step.prefixCacheQueriesTotal),
    prefixCacheHitsTotal: io.number(step.prefixCacheHitsTotal),
    entries: io.list(step.entries, passEntry),
    waitingIds: io.list(step.waitingIds, passName),
    preempted: io.list(step.preempted, passId),
  };
}

function passEntry(io: Codec, entry: StepEntry): StepEntry {
  return {
    requestId: io.name(entry.requestId),
    index: io.number(entry.index),
    start: io.number(entry.start),
    rows: io.number(entry.rows),
    promptRows: io.number(entry.promptRows),
    cachedTokens: io.number(entry.cachedTokens),
    sampled: io.number(entry.sampled ? 1 : 0) === 1,
    drafted: io.number(entry.drafted),
    accepted: io.number(entry.accepted),
    finishReason: FINISH_REASONS[io.number(FINISH_REASONS.indexOf(entry.finishReason))] ?? null,
    slot: io.number(entry.slot),
    firstBlock: io.number(entry.firstBlock),
    blocksGivenBack: io.number(entry.blocksGivenBack),
    blocks: io.list(entry.blocks, passNumber),
  };
}

const passId = (io: Codec, { requestId, index }: SequenceId): SequenceId => ({
  requestId: io.name(requestId),
  index: io.number(index),
});
const passName = (io: Codec, name: string) => io.name(name);
const passNumber = (io: Codec, number: number) => io.number(number);

function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
