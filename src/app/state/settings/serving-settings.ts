// How the page's engine serves: one table of its settings, of which the form and the link are made, and what reads and writes them,
// as typed texts and as the engine's config. The table has what the library says of its fields, with words for people. Only their
// help loads with the form (serving-help.ts).

import {
  ALERT_FIELDS,
  ChorusError,
  CONFIG_FIELDS,
  DRAFT_FIELDS,
  type BatchingMode,
  type ConfigField,
  type EngineConfig,
  type ModelCard,
} from "../../../index.ts";
import { isObject } from "../read-record.ts";
import { checkFields, OFF, readField, refusal, type FieldKind, type FieldWords, type ValueOf } from "./field.ts";

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
  batchingMode: { label: "Batching", names: { continuous: "Continuous", static: "Static", sequential: "Sequential" } },
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
type ServingValue<Name extends ServingName> =
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

/** A setting that is absent has the engine's default. */
export type ServingSettings = { readonly [Name in ServingName]?: ServingValue<Name> };

/** Texts by the names of settings, as typed in a form or written in a link. An empty one is absent. */
export type TypedServing = Readonly<Record<string, string>>;

/** The default mode is not saved as a setting. */
export const DEFAULT_MODE: BatchingMode = CONFIG_FIELDS.batchingMode.default;

/** If maxNumBatchedTokens is not set, it follows maxNumSeqs up to this. */
const MAX_DEFAULT_BATCHED_TOKENS = CONFIG_FIELDS.maxNumBatchedTokens.default;

/** Returns the settings in order, without nulls. @throws ChorusError unknown_parameter or invalid_value, naming the field */
export function checkServing(values: Readonly<Record<string, unknown>>): ServingSettings {
  const given = Object.entries(values).map(([name, value]) => {
    return [name, value === null || (name === "batchingMode" && value === DEFAULT_MODE) ? undefined : value] as const;
  });
  const settings: ServingSettings = checkFields(SERVING_FIELDS, Object.fromEntries(given), "serving setting");
  checkTogether(settings);
  return settings;
}

/** @throws ChorusError like checkServing */
export function readServing(typed: TypedServing): ServingSettings {
  const values = Object.entries(typed).map(([name, text]) => {
    const field = SERVING_FIELDS.find((one) => one.name === name);
    return [name, field ? (readField(field, text) ?? undefined) : text];
  });
  return checkServing(Object.fromEntries(values) as Record<string, unknown>);
}

/** Returns whether a field has a meaning with this method of speculation. */
export function isUsedWith({ methods }: ServingField, method: unknown): boolean {
  return methods === undefined || methods.some((name) => name === method);
}

/** Returns the settings as the texts that readServing reads. */
export function writeServing(settings: ServingSettings): TypedServing {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
}

/** Returns the page's hash: "#/?maxNumSeqs=4&batchingMode=static". */
export function writeServingLink(settings: ServingSettings): string {
  const query = new URLSearchParams(writeServing(settings)).toString();
  return query === "" ? "#/" : `#/?${query}`;
}

/** Returns the config without the batching mode, which can be chosen elsewhere too. */
export function engineConfigOf(settings: ServingSettings): EngineConfig {
  const { batchingMode: _, ...fixed } = settings;
  return nested(fixed);
}

/** Returns the settings of a config from engineConfigOf. @throws ChorusError like checkServing */
export function servingOf(config: EngineConfig): ServingSettings {
  return checkServing(flat(config));
}

/** Checks combinations of settings, so that the engine needn't be restarted to refuse them. */
function checkTogether(settings: ServingSettings): void {
  const { maxNumSeqs, maxNumBatchedTokens: budget, longPrefillTokenThreshold: piece } = settings;
  if ((maxNumSeqs ?? 0) > (budget ?? MAX_DEFAULT_BATCHED_TOKENS)) {
    const most =
      budget === undefined ? `${MAX_DEFAULT_BATCHED_TOKENS}, unless maxNumBatchedTokens is set` : `${budget}`;
    throw refusal(fieldOf("maxNumSeqs"), `at most the token budget (maxNumBatchedTokens: ${most})`);
  }
  if (budget !== undefined && (piece ?? 0) > budget) {
    throw refusal(fieldOf("longPrefillTokenThreshold"), `at most the token budget (maxNumBatchedTokens: ${budget})`);
  }
  const method = settings["speculation.method"];
  const stray = SERVING_FIELDS.find((field) => field.name in settings && !isUsedWith(field, method));
  if (stray) {
    const methods = stray.methods?.map((name) => `"${name}"`).join(" or ");
    throw new ChorusError("invalid_value", `${stray.errorName} needs speculation.method ${methods}.`, stray.name);
  }
  if (method === "draft_model" && settings["speculation.model"] === undefined) {
    throw refusal(fieldOf("speculation.model"), "given where a draft model drafts");
  }
}

/** The settings whose names have a dot become objects. The table keeps names and types as EngineConfig has them. */
function nested(settings: ServingSettings): EngineConfig {
  const config: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(settings)) {
    const [outer = "", inner] = name.split(".", 2);
    const given = value === OFF && fieldOf(name as ServingName).hasOff ? null : value;
    config[outer] = inner === undefined ? given : { ...(config[outer] as object | undefined), [inner]: given };
  }
  return config;
}

/** Flattens a config, without nulls: null is the default, as in EngineConfig, but for fields that can be off. */
function flat(config: object): Record<string, unknown> {
  const given = Object.entries(config).filter(([, value]) => value !== null);
  const values = given.flatMap(([outer, value]) =>
    isObject(value)
      ? Object.entries(value).map(([inner, one]) => [`${outer}.${inner}`, outer === "alerts" ? (one ?? OFF) : one])
      : [[outer, value]],
  );
  return Object.fromEntries(values) as Record<string, unknown>;
}

function fieldOf(name: ServingName): ServingField {
  const field = SERVING_FIELDS.find((one) => one.name === name);
  if (!field) throw new Error(`No serving setting is called ${name}.`);
  return field;
}
