// A run as JSON lines: the model, and then all events of its engine, in order.
//
//   {"type":"header","version":1,"model":{...}}
//   {"type":"request",...}  {"type":"step",...}  {"type":"alert",...}   one a line

import type { ChorusEngine } from "../protocol/engine.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { Alert, ModelCard, RequestReport, SequenceId, StepEntry, StepReport } from "../protocol/reports.ts";

const VERSION = 1;

export type RecordedEvent =
  | ({ readonly type: "step" } & StepReport)
  | ({ readonly type: "request" } & RequestReport)
  | ({ readonly type: "alert" } & Alert);

export interface Recording {
  readonly model: ModelCard;
  readonly events: readonly RecordedEvent[];
}

export interface RunRecorder {
  /** Returns what was recorded so far, for readRecording(). */
  text(): string;
  /** Ends the recording and returns it. */
  stop(): string;
}

/** Records an engine's events from now on; with `mostEvents` only the newest. */
export function recordRun(
  engine: Pick<ChorusEngine, "model" | "on">,
  { mostEvents = Infinity }: { readonly mostEvents?: number } = {},
): RunRecorder {
  if (typeof engine !== "object" || engine === null || typeof engine.on !== "function") {
    throw new ChorusError("invalid_type", "recordRun takes an engine, as createEngine gives it.", "engine");
  }
  const header = JSON.stringify({ type: "header", version: VERSION, model: engine.model });
  let lines: string[] = [];
  const add = (type: RecordedEvent["type"]) => (event: StepReport | RequestReport | Alert) => {
    lines.push(JSON.stringify({ type, ...event }));
    // Rarely, since this moves all remaining events.
    if (lines.length >= 2 * mostEvents) lines = lines.slice(-mostEvents);
  };
  const text = () => `${[header, ...lines.slice(-mostEvents)].join("\n")}\n`;
  const unsubscribe = [
    engine.on("step", add("step")),
    engine.on("request", add("request")),
    engine.on("alert", add("alert")),
  ];
  return {
    text,
    stop() {
      for (const off of unsubscribe) off();
      return text();
    },
  };
}

/**
 * @throws ChorusError invalid_type; invalid_value, whose `param` names the line ("line 3") and the message also the
 *   field
 */
export function readRecording(text: string): Recording {
  if (typeof text !== "string") throw new ChorusError("invalid_type", "A recording must be a string.");
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const [header, ...events] = lines.map(parseLine);
  if (header?.["type"] !== "header" || header["version"] !== VERSION) {
    throw wrong(0, `is not the header of a recording of version ${VERSION}`);
  }
  check(header["model"], MODEL, 0, "model");
  return {
    model: header["model"] as ModelCard,
    events: events.map((event, i) => {
      const shape = typeof event["type"] === "string" ? EVENTS.get(event["type"]) : undefined;
      if (!shape) throw wrong(i + 1, `has the type ${JSON.stringify(event["type"])}; it can be step, request or alert`);
      check(event, shape, i + 1, "");
      return event as unknown as RecordedEvent;
    }),
  };
}

function parseLine(line: string, index: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch {
    // said below
  }
  throw wrong(index, "is not a JSON object");
}

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
const numbers: Kind = {
  name: "an object of numbers",
  holds: (value) => isObject(value) && Object.values(value).every((item) => typeof item === "number"),
};
const finishReason = orNull(oneOf("stop", "length", "abort"));

const ENTRY: Shape<StepEntry> = {
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
  defaults: numbers,
};

const EVENTS = new Map<string, Readonly<Record<string, Kind>>>([
  ["step", { ...STEP }],
  ["request", { ...REQUEST }],
  ["alert", { ...ALERT }],
]);

function check(value: unknown, shape: Readonly<Record<string, Kind>>, line: number, path: string): void {
  if (!isObject(value)) throw wrong(line, `has no ${path}`);
  for (const [name, kind] of Object.entries(shape)) {
    const field = value[name];
    const fieldPath = path === "" ? name : `${path}.${name}`;
    if (field === undefined) throw wrong(line, `has no ${fieldPath}`);
    if (!kind.holds(field)) throw wrong(line, `has ${fieldPath} = ${JSON.stringify(field)}; it must be ${kind.name}`);
    if (!kind.items || !Array.isArray(field)) continue;
    for (const [i, item] of field.entries()) check(item, kind.items, line, `${fieldPath}[${i}]`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(index: number, what: string): ChorusError {
  return new ChorusError("invalid_value", `Line ${index + 1} of the recording ${what}.`, `line ${index + 1}`);
}
