// How the page's engine serves. The form and the link are made from this one table: what the library says of its fields, with
// words for people.

import { ALERT_FIELDS, CONFIG_FIELDS, DRAFT_FIELDS, type ConfigField, type ModelCard } from "../../../index.ts";
import { describeValue, type FieldKind, type FieldWords, type OFF, type ValueOf } from "./field.ts";

const LIVE = { takesEffect: "live" } as const;

/** Fields by the library's names. Each field of an object is a setting. */
const FIELDS = {
  ...CONFIG_FIELDS,
  "speculation.method": { kind: "choice", choices: ["ngram", "draft_model"], default: null, takesEffect: "room" },
  "speculation.num_speculative_tokens": DRAFT_FIELDS.num_speculative_tokens,
  "speculation.minMatch": DRAFT_FIELDS.minMatch,
  "speculation.model": { kind: "text", default: null, takesEffect: "restart" },
  "alerts.lowOccupancy": { ...ALERT_FIELDS.lowOccupancy, ...LIVE },
  "alerts.queueLength": { ...ALERT_FIELDS.queueLength, ...LIVE },
  "alerts.itlMs": { ...ALERT_FIELDS.itlMs, ...LIVE },
  "alerts.failureRate": { ...ALERT_FIELDS.failureRate, ...LIVE },
} as const;
type Fields = typeof FIELDS;

interface Words extends FieldWords {
  /** Returns the default in words, if it isn't the library's. @param model null if no engine runs yet */
  readonly defaultText?: (model: ModelCard | null) => string;
  /** If present, the field exists only with these methods of speculation. */
  readonly methods?: readonly string[];
}

/** The compiler reports a choice that has no name. An alert can be off, too: null in the config. */
type WordsOf<Name, Field> = Words &
  (Field extends { readonly choices: readonly (infer Choice extends string)[] }
    ? { readonly names: Readonly<Record<Choice, string>> }
    : Name extends `alerts.${string}`
      ? { readonly hasOff: true }
      : object);

/** In display order. A setting of the library's table is one entry here. */
const WORDS = {
  batchingMode: {
    label: "Batching",
    help: "Continuous: questions join and leave at every step. Static: a batch runs to its end. Sequential: one after the other.",
    names: { continuous: "Continuous", static: "Static", sequential: "Sequential" },
  },
  batchWindowMs: {
    label: "Batch window",
    help: "How long a static batch waits for more questions before it starts.",
    unit: "ms",
  },
  maxNumSeqs: { label: "Most answers at once", help: "This many answers grow at once; further ones wait." },
  maxNumBatchedTokens: {
    label: "Token budget",
    help: "A step computes at most this many tokens, of prompts and answers together.",
    unit: "per step",
    defaultText: (model) => (model === null ? "the backend's" : model.backend === "cpu" ? "64" : "256"),
  },
  longPrefillTokenThreshold: {
    label: "Prompt chunk size",
    help: "A step computes at most this many tokens of one prompt. 0: the whole budget.",
    unit: "tokens",
  },
  maxStepStretch: {
    label: "How much new prompts may slow running answers",
    help: "Prompts that join may make a step this many times as long for those who stream.",
    unit: "(times)",
  },
  schedulingPolicy: {
    label: "Policy",
    help: "Which waiting question starts next. By priority: the lowest number among the panes' settings.",
    names: {
      fcfs: "By arrival",
      priority: "By priority",
      "shortest-remaining": "Shortest first",
      balanced: "Balanced",
    },
  },
  maxQueueSize: {
    label: "Longest queue",
    help: "When this many sequences wait, further questions are refused.",
    unit: "sequences",
  },
  targetItlMs: {
    label: "Target latency",
    help: "The token budget and the number of sequences adapt so that a step takes at most this long.",
    unit: "ms",
  },
  numGpuBlocks: {
    label: "Cache size",
    help: "The key/value cache of all chats together, in blocks of 16 tokens; usually at most 256 MiB.",
    unit: "blocks",
    defaultText: () => "16 full chats",
  },
  enablePrefixCaching: {
    label: "Prefix cache",
    help: "Questions that begin with the same tokens share their cache blocks.",
  },
  runAhead: {
    label: "Run-ahead",
    help: "Steps that are submitted before the tokens of an earlier one are known. 0 waits for each step.",
    unit: "steps",
  },
  "speculation.method": {
    label: "Drafts",
    help: "Several tokens are guessed and checked in one step; the answers stay the same. By n-grams: words that followed the same words before.",
    names: { ngram: "By n-grams", draft_model: "By a draft model" },
  },
  "speculation.num_speculative_tokens": {
    label: "Draft length",
    help: "Most tokens that are drafted at once.",
    unit: "tokens",
    methods: ["ngram", "draft_model"],
  },
  "speculation.minMatch": {
    label: "Shortest match",
    help: "This many last tokens must have occurred before.",
    unit: "tokens",
    methods: ["ngram"],
  },
  "speculation.model": {
    label: "Draft model",
    help: "A small model with the same tokens: its hub name, such as distilbert/distilgpt2, or its folder's address. It is downloaded and loaded too.",
    defaultText: () => "owner/name",
    methods: ["draft_model"],
  },
  "alerts.lowOccupancy": {
    label: "Alert on idle slots, under",
    help: "Raised when questions wait although less than this share of the slots is in use (0.6: 60%). off: never.",
    hasOff: true,
  },
  "alerts.queueLength": {
    label: "Alert on the queue, over",
    help: "Raised when more sequences than this wait. off: never.",
    unit: "sequences",
    hasOff: true,
  },
  "alerts.itlMs": {
    label: "Alert on latency, over",
    help: "Raised when the time between tokens (its 95th percentile) is longer; by default than the target latency, or than four of this adapter's own steps, at least 50 ms. off: never.",
    unit: "ms",
    defaultText: () => "4 steps",
    hasOff: true,
  },
  "alerts.failureRate": {
    label: "Alert on failures, over",
    help: "Raised when more than this share of the last 100 requests failed or were refused (0.05: 5%). off: never.",
    hasOff: true,
  },
  logLevel: {
    label: "Log level",
    help: "What the engine writes to the browser's console.",
    names: { silent: "Silent", error: "Errors", warn: "Warnings", info: "Information", debug: "Everything" },
  },
} satisfies { readonly [Name in keyof Fields]?: WordsOf<Name, Fields[Name]> };

export type ServingName = keyof typeof WORDS;
export type ServingValue<Name extends ServingName> =
  | ValueOf<Fields[Name]["kind"]>
  | (Name extends `alerts.${string}` ? typeof OFF : never);

export type ServingField = { readonly name: ServingName } & Words &
  FieldKind &
  Pick<ConfigField, "default" | "takesEffect">;

export const SERVING_FIELDS: readonly ServingField[] = (Object.keys(WORDS) as ServingName[]).map((name) => ({
  name,
  errorName: `${WORDS[name].label} (${name})`,
  ...FIELDS[name],
  ...WORDS[name],
}));

/** Returns the default in words. */
export function defaultTextOf(field: ServingField, model: ModelCard | null): string {
  const { default: value = null, defaultText } = field;
  if (defaultText) return defaultText(model);
  return value === null ? "none" : describeValue(field, value);
}
