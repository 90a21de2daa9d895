// The shapes of a recording's lines. What isn't in them is refused by line and field.

import { ChorusError } from "../protocol/errors.ts";
import type {
  Alert,
  AnswerWords,
  KernelTime,
  ModelCard,
  RequestReport,
  SequenceId,
  StepEntry,
  StepReport,
} from "../protocol/reports.ts";
import type { RecordedConfig, RecordedEvent } from "./recording-format.ts";

/** A kind of value, and its name in errors. */
interface Kind {
  readonly name: string;
  readonly holds: (value: unknown) => boolean;
  /** Of each item, where it is an array. */
  readonly items?: Readonly<Record<string, Kind>>;
}

/** The kind of every field of T. The compiler reports fields that are missing here. */
type Shape<T> = { readonly [Name in keyof T]-?: Kind };

const number: Kind = { name: "a number", holds: (value) => typeof value === "number" };
const text: Kind = { name: "a string", holds: (value) => typeof value === "string" };
const boolean: Kind = { name: "true or false", holds: (value) => typeof value === "boolean" };
const orNull = ({ name, holds }: Kind): Kind => ({
  name: `${name} or null`,
  holds: (value) => value === null || holds(value),
});
const oneOf = (...values: string[]): Kind => ({
  name: `one of ${values.join(", ")}`,
  holds: (value) => values.some((known) => known === value),
});
const listOf = <T>(items: Shape<T>): Kind => ({ name: "an array", holds: Array.isArray, items: { ...items } });
const texts: Kind = {
  name: "an array of strings",
  holds: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
};
const listOfNumbers: Kind = {
  name: "an array of numbers",
  holds: (value) => Array.isArray(value) && value.every((item) => typeof item === "number"),
};
const numbers: Kind = {
  name: "an object of numbers",
  holds: (value) => isObject(value) && Object.values(value).every((item) => typeof item === "number"),
};
const finishReason = orNull(oneOf("stop", "length", "abort"));

type OldEntry = Omit<StepEntry, "slot" | "blocks" | "firstBlock" | "blocksGivenBack">;

const OLD_ENTRY: Shape<OldEntry> = {
  requestId: text,
  index: number,
  start: number,
  rows: number,
  promptRows: number,
  cachedTokens: number,
  sampled: boolean,
  drafted: number,
  accepted: number,
  finishReason,
};

const ENTRY: Shape<StepEntry> = {
  ...OLD_ENTRY,
  slot: number,
  blocks: listOfNumbers,
  firstBlock: number,
  blocksGivenBack: number,
};

/** What older versions have instead. */
const NO_PLACE = { slot: -1, blocks: [], firstBlock: 0, blocksGivenBack: 0 };

const SEQUENCE: Shape<SequenceId> = { requestId: text, index: number };

const STEP: Shape<StepReport> = {
  step: number,
  atMs: number,
  stepMs: number,
  cpuMs: number,
  gpuMs: orNull(number),
  rows: number,
  promptRows: number,
  sampledTokens: number,
  entries: listOf(ENTRY),
  maxNumSeqs: number,
  maxNumBatchedTokens: number,
  numRunning: number,
  numWaiting: number,
  waitingIds: texts,
  kvBlocksUsed: number,
  numResidentTokens: number,
  kvBlocksCached: number,
  kvBlocksTotal: number,
  preempted: listOf(SEQUENCE),
  preemptionsTotal: number,
  prefixCacheQueriesTotal: number,
  prefixCacheHitsTotal: number,
};

const REQUEST: Shape<RequestReport> = {
  requestId: text,
  index: number,
  status: oneOf("queued", "first-token", "finished"),
  promptTokens: number,
  outputTokens: number,
  maxTokens: number,
  cachedTokens: number,
  draftTokens: number,
  acceptedTokens: number,
  numPreemptions: number,
  arrivalMs: number,
  scheduledMs: orNull(number),
  firstTokenMs: orNull(number),
  finishedMs: orNull(number),
  finishReason,
};

const KERNEL: Shape<KernelTime> = { kernel: text, operation: text, startMs: number, ms: number };

const ALERT: Shape<Alert> = {
  status: oneOf("raised", "resolved"),
  name: oneOf("low_occupancy", "queue_length", "itl", "failure_rate"),
  value: number,
  threshold: number,
  atMs: number,
  message: text,
};

const MODEL: Shape<ModelCard> = {
  name: text,
  numParameters: number,
  weightBytes: number,
  kvCacheBytes: number,
  contextLength: number,
  vocabSize: number,
  numLayers: number,
  dtype: text,
  kvCacheDtype: text,
  numGpuBlocks: number,
  blockSize: number,
  backend: oneOf("webgpu", "cpu"),
  adapter: text,
  notice: orNull(text),
  chat: boolean,
  readsSystemPrompt: boolean,
  canTimeKernels: boolean,
  defaults: numbers,
};

const CONFIG: Shape<RecordedConfig> = {
  maxNumSeqs: number,
  maxNumBatchedTokens: number,
  maxModelLen: number,
  runAhead: number,
  enablePrefixCaching: boolean,
  schedulingPolicy: oneOf("fcfs", "priority", "shortest-remaining", "balanced"),
  batchingMode: oneOf("continuous", "static", "sequential"),
  cpuMath: oneOf("portable", "fastest"),
};

const ANSWER: Shape<AnswerWords> = { requestId: text, index: number, tokenIds: listOfNumbers, text };

/** The body itself is checked by the engine that it is given to. */
const BODY: Kind = {
  name: "a request with a prompt of token ids",
  holds: (value) => isObject(value) && listOfNumbers.holds(value["prompt"]) && number.holds(value["max_tokens"]),
};

const EVENTS = new Map<string, Readonly<Record<string, Kind>>>([
  ["step", { ...STEP }],
  ["request", { ...REQUEST }],
  ["asked", { requestId: text, question: text, text, body: BODY }],
  ["answered", { step: orNull(number), answers: listOf(ANSWER) }],
  ["kernels", { step: number, kernels: listOf(KERNEL) }],
  ["alert", { ...ALERT }],
]);

const OLD_EVENTS = new Map<string, Readonly<Record<string, Kind>>>([
  ["step", { ...STEP, entries: listOf(OLD_ENTRY) }],
  ["request", { ...REQUEST }],
  ["alert", { ...ALERT }],
]);

/** @throws ChorusError invalid_value */
export function checkModel(model: unknown): ModelCard {
  // Earlier recordings have no word of kernels.
  const whole = isObject(model) ? { canTimeKernels: false, ...model } : model;
  check(whole, MODEL, 0, "model");
  return whole as ModelCard;
}

/** @throws ChorusError invalid_value */
export function checkConfig(config: unknown): RecordedConfig {
  check(config, CONFIG, 0, "config");
  return config as RecordedConfig;
}

/** @throws ChorusError invalid_value */
export function checkEvent(event: Record<string, unknown>, line: number): RecordedEvent {
  checkType(event, EVENTS, line);
  return event as unknown as RecordedEvent;
}

/** Checks an event of an older version, and returns it as one of this. @throws ChorusError invalid_value */
export function checkOldEvent(event: Record<string, unknown>, line: number): RecordedEvent {
  checkType(event, OLD_EVENTS, line);
  if (event["type"] !== "step") return event as unknown as RecordedEvent;
  const entries = (event["entries"] as OldEntry[]).map((entry): StepEntry => ({ ...entry, ...NO_PLACE }));
  return { ...event, entries } as unknown as RecordedEvent;
}

function checkType(event: Record<string, unknown>, shapes: typeof EVENTS, line: number): void {
  const { type } = event;
  const shape = typeof type === "string" ? shapes.get(type) : undefined;
  const known = [...shapes.keys()].join(", ");
  if (!shape) throw wrongLine(line, `has the type ${JSON.stringify(type)}; it can be one of ${known}`);
  check(event, shape, line, "");
}

function check(value: unknown, shape: Readonly<Record<string, Kind>>, line: number, path: string): void {
  if (!isObject(value)) throw wrongLine(line, `has no ${path}`);
  for (const [name, kind] of Object.entries(shape)) {
    const field = value[name];
    const fieldPath = path === "" ? name : `${path}.${name}`;
    if (field === undefined) throw wrongLine(line, `has no ${fieldPath}`);
    if (!kind.holds(field))
      throw wrongLine(line, `has ${fieldPath} = ${JSON.stringify(field)}; it must be ${kind.name}`);
    if (!kind.items || !Array.isArray(field)) continue;
    for (const [i, item] of field.entries()) check(item, kind.items, line, `${fieldPath}[${i}]`);
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function wrongLine(index: number, what: string): ChorusError {
  return new ChorusError("invalid_value", `Line ${index + 1} of the recording ${what}.`, `line ${index + 1}`);
}
