// How the page's engine serves. The form and the link are made from this one table: what the library says of its fields, with
// words for people. Only their help loads with the form (serving-help.ts).

import { ALERT_FIELDS, CONFIG_FIELDS, DRAFT_FIELDS, type ConfigField, type ModelCard } from "../../../index.ts";
import { describeValue, type FieldKind, type FieldWords, type OFF, type ValueOf } from "./field.ts";

/** An alert can be off, too: null in the config. */
const ALERT = { takesEffect: "live", hasOff: true } as const;

/** Fields by the library's names. Each field of an object is a setting. */
const FIELDS = {
  ...CONFIG_FIELDS,
  "speculation.method": { kind: "choice", choices: ["ngram", "draft_model"], default: null, takesEffect: "room" },
  "speculation.num_speculative_tokens": DRAFT_FIELDS.num_speculative_tokens,
  "speculation.minMatch": DRAFT_FIELDS.minMatch,
  "speculation.model": { kind: "text", default: null, takesEffect: "restart" },
  "alerts.lowOccupancy": { ...ALERT_FIELDS.lowOccupancy, ...ALERT },
  "alerts.queueLength": { ...ALERT_FIELDS.queueLength, ...ALERT },
  "alerts.itlMs": { ...ALERT_FIELDS.itlMs, ...ALERT },
  "alerts.failureRate": { ...ALERT_FIELDS.failureRate, ...ALERT },
} as const;
type Fields = typeof FIELDS;

interface Words extends FieldWords {
  /** Returns the default in words, if it isn't the library's. @param model null if no engine runs yet */
  readonly defaultText?: (model: ModelCard | null) => string;
  /** If present, the field exists only with these methods of speculation. */
  readonly methods?: readonly string[];
}

/** The compiler reports a choice that has no name. */
type WordsOf<Field> = Words &
  (Field extends { readonly choices: readonly (infer Choice extends string)[] }
    ? { readonly names: Readonly<Record<Choice, string>> }
    : object);

/** In display order. A setting of the library's table is one entry here. */
const WORDS = {
  batchingMode: {
    label: "Batching",
    names: { continuous: "Continuous", static: "Static", sequential: "Sequential" },
  },
  batchWindowMs: { label: "Batch window", unit: "ms" },
  maxNumSeqs: { label: "Most answers at once" },
  maxNumBatchedTokens: {
    label: "Token budget",
    unit: "per step",
    defaultText: (model) => (model === null ? "the backend's" : model.backend === "cpu" ? "64" : "256"),
  },
  longPrefillTokenThreshold: { label: "Prompt chunk size", unit: "tokens" },
  maxStepStretch: { label: "How much new prompts may slow running answers", unit: "(times)" },
  schedulingPolicy: {
    label: "Policy",
    names: {
      fcfs: "By arrival",
      priority: "By priority",
      "shortest-remaining": "Shortest first",
      balanced: "Balanced",
    },
  },
  maxQueueSize: { label: "Longest queue", unit: "sequences" },
  targetItlMs: { label: "Target latency", unit: "ms" },
  numGpuBlocks: { label: "Cache size", unit: "blocks", defaultText: () => "16 full chats" },
  enablePrefixCaching: { label: "Prefix cache" },
  runAhead: { label: "Run-ahead", unit: "steps" },
  "speculation.method": { label: "Drafts", names: { ngram: "By n-grams", draft_model: "By a draft model" } },
  "speculation.num_speculative_tokens": { label: "Draft length", unit: "tokens", methods: ["ngram", "draft_model"] },
  "speculation.minMatch": { label: "Shortest match", unit: "tokens", methods: ["ngram"] },
  "speculation.model": { label: "Draft model", defaultText: () => "owner/name", methods: ["draft_model"] },
  "alerts.lowOccupancy": { label: "Alert on idle slots, under" },
  "alerts.queueLength": { label: "Alert on the queue, over", unit: "sequences" },
  "alerts.itlMs": { label: "Alert on latency, over", unit: "ms", defaultText: () => "4 steps" },
  "alerts.failureRate": { label: "Alert on failures, over" },
  logLevel: {
    label: "Log level",
    names: { silent: "Silent", error: "Errors", warn: "Warnings", info: "Information", debug: "Everything" },
  },
} satisfies { readonly [Name in keyof Fields]?: WordsOf<Fields[Name]> };

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
