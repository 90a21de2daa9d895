// How the page's engine serves: the library's fields that have a name for people, of which the form and the link are made, and what
// reads and writes them, as typed texts and as the engine's config.

import {
  ALERT_FIELDS,
  ChorusError,
  CONFIG_FIELDS,
  DRAFT_FIELDS,
  type BatchingMode,
  type ConfigField,
  type EngineConfig,
} from "../../../index.ts";
import { isObject } from "../read-record.ts";
import { checkFields, OFF, readField, refusal, type FieldKind, type FieldWords, type ValueOf } from "./field.ts";

type Nested<Name extends string, Table, Rest> = {
  readonly [Inner in keyof Table & string as `${Name}.${Inner}`]: Table[Inner] & Rest;
};

/** Returns the fields of an object as fields of the config. */
function fieldsOf<Name extends string, Table extends Readonly<Record<string, object>>, Rest>(
  name: Name,
  table: Table,
  rest: Rest,
): Nested<Name, Table, Rest> {
  const fields = Object.entries(table).map(([inner, field]) => [`${name}.${inner}`, { ...field, ...rest }]);
  return Object.fromEntries(fields) as Nested<Name, Table, Rest>;
}

const { logLevel, ...OTHERS } = CONFIG_FIELDS;

/** Fields by the library's names, in display order. Each field of an object is a setting. */
const FIELDS = {
  ...OTHERS,
  /**
   * Several tokens are guessed and checked in one step; the answers stay the same. By n-grams: words that followed the same words
   * before.
   */
  "speculation.method": {
    kind: "choice",
    choices: ["ngram", "draft_model"],
    names: { ngram: "By n-grams", draft_model: "By a draft model" },
    default: null,
    takesEffect: "room",
    label: "Drafts",
  },
  ...fieldsOf("speculation", DRAFT_FIELDS, {}),
  /**
   * A small model with the same tokens: its hub name, such as distilbert/distilgpt2, or its folder's address. It is downloaded and
   * loaded too.
   */
  "speculation.model": { kind: "text", default: null, takesEffect: "restart", label: "Draft model" },
  // An alert can be off, too: null in the config.
  ...fieldsOf("alerts", ALERT_FIELDS, { takesEffect: "live", hasOff: true } as const),
  logLevel,
} as const;
type Fields = typeof FIELDS;

export type ServingName = {
  [Name in keyof Fields]: Fields[Name] extends { readonly label: string } ? Name : never;
}[keyof Fields];
type ServingValue<Name extends ServingName> =
  | ValueOf<Fields[Name]["kind"]>
  | (Name extends `alerts.${string}` ? typeof OFF : never);

export type ServingField = { readonly name: ServingName } & FieldWords &
  FieldKind &
  Pick<ConfigField, "default" | "takesEffect">;

/** A field without a label is in no form. */
type Named = { readonly kind: string; readonly label?: string };
export const SERVING_FIELDS: readonly ServingField[] = Object.entries<Named>(FIELDS).flatMap(([name, field]) =>
  field.label ? [{ name, errorName: `${field.label} (${name})`, ...field } as ServingField] : [],
);

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

/** The methods of speculation with which a field has a meaning; without one it has always. */
const METHODS: { readonly [Name in ServingName]?: readonly string[] } = {
  "speculation.num_speculative_tokens": ["ngram", "draft_model"],
  "speculation.minMatch": ["ngram"],
  "speculation.model": ["draft_model"],
};

/** Returns whether a field has a meaning with this method of speculation. */
export function isUsedWith({ name }: ServingField, method: unknown): boolean {
  return METHODS[name]?.some((one) => one === method) ?? true;
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
    const methods = METHODS[stray.name]?.map((name) => `"${name}"`).join(" or ");
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
