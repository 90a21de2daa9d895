// The shapes of a recording's lines. Errors name the line and the field.

import { BATCHING_MODES, CPU_MATHS, SCHEDULING_POLICIES } from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import { BOOLEAN, isObject, NUMBER, STRING, type Kind } from "../protocol/json-object.ts";
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

/** @param items of each item, where it is an array @param absent what a recording means that was made before the field was there */
type FieldKind = Kind & { readonly items?: Readonly<Record<string, FieldKind>>; readonly absent?: string };

/** The kind of every field of T. The compiler reports fields that are missing here. */
type Shape<T> = { readonly [Name in keyof T]-?: FieldKind };

const kind = (words: string, is: (value: unknown) => boolean): Kind => ({
  words,
  is: (value): value is unknown => is(value),
});
const orNull = ({ words, is }: Kind): Kind => kind(`${words} or null`, (value) => value === null || is(value));
const oneOf = (...values: readonly string[]): Kind =>
  kind(`one of ${values.join(", ")}`, (value) => values.some((known) => known === value));
const listOf = <T>(items: Shape<T>): FieldKind => ({ ...kind("an array", Array.isArray), items: { ...items } });
const isListOf = (item: Kind) => (value: unknown) => Array.isArray(value) && value.every(item.is);
const STRINGS = kind("an array of strings", isListOf(STRING));
const NUMBERS = kind("an array of numbers", isListOf(NUMBER));
const NUMBERS_BY_NAME = kind(
  "an object of numbers",
  (value) => isObject(value) && Object.values(value).every(NUMBER.is),
);
const finishReason = orNull(oneOf("stop", "length", "abort"));

const ENTRY: Shape<StepEntry> = {
  requestId: STRING,
  index: NUMBER,
  start: NUMBER,
  rows: NUMBER,
  promptRows: NUMBER,
  cachedTokens: NUMBER,
  sampled: BOOLEAN,
  drafted: NUMBER,
  accepted: NUMBER,
  finishReason,
  slot: NUMBER,
  blocks: NUMBERS,
  firstBlock: NUMBER,
  blocksGivenBack: NUMBER,
};

const SEQUENCE: Shape<SequenceId> = { requestId: STRING, index: NUMBER };

const STEP: Shape<StepReport> = {
  step: NUMBER,
  atMs: NUMBER,
  stepMs: NUMBER,
  cpuMs: NUMBER,
  gpuMs: orNull(NUMBER),
  rows: NUMBER,
  promptRows: NUMBER,
  sampledTokens: NUMBER,
  entries: listOf(ENTRY),
  maxNumSeqs: NUMBER,
  maxNumBatchedTokens: NUMBER,
  numRunning: NUMBER,
  numWaiting: NUMBER,
  waitingIds: STRINGS,
  kvBlocksUsed: NUMBER,
  numResidentTokens: NUMBER,
  kvBlocksCached: NUMBER,
  kvBlocksTotal: NUMBER,
  preempted: listOf(SEQUENCE),
  preemptionsTotal: NUMBER,
  prefixCacheQueriesTotal: NUMBER,
  prefixCacheHitsTotal: NUMBER,
};

const REQUEST: Shape<RequestReport> = {
  requestId: STRING,
  index: NUMBER,
  status: oneOf("queued", "first-token", "finished"),
  promptTokens: NUMBER,
  outputTokens: NUMBER,
  maxTokens: NUMBER,
  cachedTokens: NUMBER,
  draftTokens: NUMBER,
  acceptedTokens: NUMBER,
  numPreemptions: NUMBER,
  arrivalMs: NUMBER,
  scheduledMs: orNull(NUMBER),
  firstTokenMs: orNull(NUMBER),
  finishedMs: orNull(NUMBER),
  finishReason,
};

const KERNEL: Shape<KernelTime> = { kernel: STRING, operation: STRING, startMs: NUMBER, ms: NUMBER };

const ALERT: Shape<Alert> = {
  status: oneOf("raised", "resolved"),
  name: oneOf("low_occupancy", "queue_length", "itl", "failure_rate"),
  value: NUMBER,
  threshold: NUMBER,
  atMs: NUMBER,
  message: STRING,
};

const MODEL: Shape<ModelCard> = {
  name: STRING,
  numParameters: NUMBER,
  weightBytes: NUMBER,
  kvCacheBytes: NUMBER,
  contextLength: NUMBER,
  vocabSize: NUMBER,
  numLayers: NUMBER,
  dtype: STRING,
  mixture: orNull(STRING),
  activationDtype: { ...oneOf("f32", "int8"), absent: "f32" },
  kvCacheDtype: STRING,
  numGpuBlocks: NUMBER,
  blockSize: NUMBER,
  backend: oneOf("webgpu", "cpu"),
  adapter: STRING,
  notice: orNull(STRING),
  chat: BOOLEAN,
  readsSystemPrompt: BOOLEAN,
  canTimeKernels: BOOLEAN,
  defaults: NUMBERS_BY_NAME,
};

const CONFIG: Shape<RecordedConfig> = {
  maxNumSeqs: NUMBER,
  maxNumBatchedTokens: NUMBER,
  maxModelLen: NUMBER,
  runAhead: NUMBER,
  enablePrefixCaching: BOOLEAN,
  schedulingPolicy: oneOf(...SCHEDULING_POLICIES),
  batchingMode: oneOf(...BATCHING_MODES),
  cpuMath: oneOf(...CPU_MATHS),
};

const ANSWER: Shape<AnswerWords> = { requestId: STRING, index: NUMBER, tokenIds: NUMBERS, text: STRING };

/** The body itself is checked by the engine that it is given to. */
const BODY = kind(
  "a request with a prompt of token ids",
  (value) => isObject(value) && NUMBERS.is(value["prompt"]) && NUMBER.is(value["max_tokens"]),
);

const EVENTS = new Map<string, Readonly<Record<string, FieldKind>>>(
  Object.entries({
    step: STEP,
    request: REQUEST,
    asked: { requestId: STRING, question: STRING, text: STRING, body: BODY },
    answered: { step: orNull(NUMBER), answers: listOf(ANSWER) },
    kernels: { step: NUMBER, kernels: listOf(KERNEL) },
    alert: ALERT,
  }),
);

/** @throws ChorusError invalid_value */
export function checkModel(model: unknown): ModelCard {
  check(model, MODEL, 0, "model");
  return model as ModelCard;
}

/** @throws ChorusError invalid_value */
export function checkConfig(config: unknown): RecordedConfig {
  check(config, CONFIG, 0, "config");
  return config as RecordedConfig;
}

/** @throws ChorusError invalid_value */
export function checkEvent(event: Record<string, unknown>, line: number): RecordedEvent {
  const { type } = event;
  const shape = typeof type === "string" ? EVENTS.get(type) : undefined;
  const known = [...EVENTS.keys()].join(", ");
  if (!shape) throw wrongLine(line, `has the type ${JSON.stringify(type)}; it can be one of ${known}`);
  check(event, shape, line, "");
  return event as unknown as RecordedEvent;
}

function check(value: unknown, shape: Readonly<Record<string, FieldKind>>, line: number, path: string): void {
  if (!isObject(value)) throw wrongLine(line, `has no ${path}`);
  for (const [name, one] of Object.entries(shape)) {
    if (!(name in value) && one.absent !== undefined) value[name] = one.absent;
    const field = value[name];
    const fieldPath = path === "" ? name : `${path}.${name}`;
    if (field === undefined) throw wrongLine(line, `has no ${fieldPath}`);
    if (!one.is(field)) throw wrongLine(line, `has ${fieldPath} = ${JSON.stringify(field)}; it must be ${one.words}`);
    if (!one.items || !Array.isArray(field)) continue;
    for (const [i, item] of field.entries()) check(item, one.items, line, `${fieldPath}[${i}]`);
  }
}

export function wrongLine(index: number, what: string): ChorusError {
  return new ChorusError("invalid_value", `Line ${index + 1} of the recording ${what}.`, `line ${index + 1}`);
}
