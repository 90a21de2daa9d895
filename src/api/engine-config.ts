import { byteSize } from "../protocol/byte-size.ts";
import {
  ALERT_FIELDS,
  CONFIG_FIELDS,
  DRAFT_FIELDS,
  type BackendChoice,
  type ConfigField,
  type EngineConfig,
  type GivenFields,
  type ResolvedAlertThresholds,
  type ResolvedEngineConfig,
} from "../protocol/config.ts";
import type { CreateEngineOptions } from "../protocol/engine.ts";
import { largestCount } from "../protocol/largest-count.ts";
import { draftModelOf, fieldThatRestarts, type EngineChanges, type LoadedSizes } from "../protocol/live-config.ts";
import { cacheBytes, stateBytes, type ModelShape } from "../protocol/model-shape.ts";
import { slotsAndRows, spareSamples } from "../protocol/step-sizes.ts";
import { Fields, invalidValue, refused } from "./validate.ts";

/** Contexts that the cache holds by default, unless they take more than DEFAULT_KV_CACHE_BYTES. */
const DEFAULT_FULL_CONTEXTS = 16;
const DEFAULT_KV_CACHE_BYTES = 256 * 2 ** 20;
/** The cache is large enough for as many states of sequences, if the model keeps such. */
const DEFAULT_STATES = 4;

type CachedShape = Pick<ModelShape, "numLayers" | "numKvHeads" | "headDim" | "convs" | "states">;

/** What createEngine takes beside the config: a wrong name may be near one of these. */
const CREATE_OPTIONS = [
  "model",
  "revision",
  "token",
  "hubUrl",
  "onProgress",
  "signal",
  "worker",
  "gpu",
] as const satisfies readonly (keyof CreateEngineOptions)[];

/** @throws ChorusError invalid_type or invalid_value of "backend" */
export function parseBackendChoice(backend: unknown): BackendChoice {
  return new Fields({ backend }).oneOf("backend", CONFIG_FIELDS.backend.choices) ?? CONFIG_FIELDS.backend.default;
}

/**
 * Checks a caller's config and fills in the defaults.
 * @param backendDefaults the backend's own defaults
 * @param draftModel has a cache of as many blocks
 * @throws ChorusError unknown_parameter, invalid_type, invalid_value, naming the field.
 */
export function resolveEngineConfig(
  config: EngineConfig,
  model: CachedShape & Pick<ModelShape, "maxPositions">,
  backendDefaults: Partial<Pick<ResolvedEngineConfig, "dtype" | "activationDtype" | "maxNumBatchedTokens">> = {},
  draftModel: CachedShape | null = null,
): ResolvedEngineConfig {
  const fields = new Fields(config);
  fields.refuseOthers(Object.keys(CONFIG_FIELDS), CREATE_OPTIONS);
  const size = (name: "maxNumSeqs" | "maxNumBatchedTokens") => fields.integer(name, CONFIG_FIELDS[name]);
  const { maxNumSeqs, maxNumBatchedTokens } = slotsAndRows(
    { maxNumSeqs: size("maxNumSeqs"), maxNumBatchedTokens: size("maxNumBatchedTokens") },
    backendDefaults.maxNumBatchedTokens ?? null,
  );
  // Every running sequence needs a row in a step.
  if (maxNumSeqs > maxNumBatchedTokens) {
    throw invalidValue("maxNumSeqs", `at most maxNumBatchedTokens (${maxNumBatchedTokens})`, maxNumSeqs);
  }
  const max = { maxModelLen: model.maxPositions, longPrefillTokenThreshold: maxNumBatchedTokens };
  const given = readFields(fields, CONFIG_FIELDS, max);
  const {
    backend: _,
    kvCacheBytes,
    numGpuBlocks,
    ...read
  } = {
    ...defaultsOf(CONFIG_FIELDS),
    maxModelLen: model.maxPositions,
    seed: Math.floor(Math.random() * 2 ** 32),
    dtype: "f16" as const,
    ...backendDefaults,
    ...given,
    maxNumSeqs,
    maxNumBatchedTokens,
  };
  const speculation = parseSpeculation(fields);
  const { activationDtype: asked = "auto" } = given;
  const ofQuantised = asked === "auto" ? (backendDefaults.activationDtype ?? "f32") : asked;
  const activationDtype = read.dtype === "f32" || read.dtype === "f16" ? "f32" : ofQuantised;
  return Object.freeze({
    ...read,
    activationDtype,
    // With integers, which have the same bits everywhere, whole answers have.
    cpuMath: read.cpuMath ?? (activationDtype === "int8" ? "portable" : "fastest"),
    numGpuBlocks:
      numGpuBlocks ?? numBlocksIn(kvCacheBytes, draftModel ? [model, draftModel] : [model], { ...read, speculation }),
    maxQueueSize: read.maxQueueSize ?? Infinity,
    speculation,
    alerts: parseAlerts(fields, read.targetItlMs),
  });
}

type Table = Readonly<Record<string, ConfigField>>;

/** Returns those of a table's fields that are given. @param max of fields whose limit is lower than the table's */
function readFields<T extends Table>(
  fields: Fields,
  table: T,
  max: { readonly [Name in keyof T]?: number } = {},
): GivenFields<T> {
  const read = Object.entries(table).map(([name, field]) => [name, readField(fields, name, field, max[name])]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as GivenFields<T>;
}

function readField(fields: Fields, name: string, field: ConfigField, max?: number): unknown {
  switch (field.kind) {
    case "integer":
    case "number":
      return fields[field.kind](name, { ...field, max: max ?? field.max });
    case "choice":
      return fields.oneOf(name, field.choices);
    case "flag":
      return fields.boolean(name);
    case "speculation":
    case "alerts": // have fields of their own
      return undefined;
  }
}

type DefaultsOf<T> = { [Name in keyof T as T[Name] extends { default: unknown } ? Name : never]: DefaultOf<T[Name]> };
type DefaultOf<Field> = Field extends { default: infer Default } ? Default : never;

function defaultsOf<T extends Table>(table: T): DefaultsOf<T> {
  const withDefaults = Object.entries(table).filter(([, field]) => field.default !== undefined);
  return Object.fromEntries(withDefaults.map(([name, field]) => [name, field.default])) as DefaultsOf<T>;
}

/** A config as its caller wrote it, and with all defaults filled in. */
export interface ConfigInUse {
  readonly given: EngineConfig;
  readonly resolved: ResolvedEngineConfig;
}

/** Returns the sizes of steps that an engine with this config is loaded for. */
export function loadedSizes(
  { given, resolved: { maxNumSeqs, maxNumBatchedTokens, speculation } }: ConfigInUse,
  defaultBatchedTokens: number | null,
): LoadedSizes {
  const maxSpareSamples = spareSamples(maxNumSeqs, speculation?.numTokens ?? 0);
  return { maxNumSeqs, maxNumBatchedTokens, maxSpareSamples, draftModel: draftModelOf(given), defaultBatchedTokens };
}

/**
 * Checks changes for an engine that runs, and returns its config with them.
 * @throws ChorusError as resolveEngineConfig does; invalid_value for what needs another engine
 */
export function changeEngineConfig(
  { given, resolved }: ConfigInUse,
  changes: EngineChanges,
  loaded: LoadedSizes,
): ConfigInUse {
  const { seed, dtype, activationDtype, kvCacheDtype, maxModelLen, numGpuBlocks, blockSize } = resolved;
  new Fields(changes).refuseOthers(Object.keys(CONFIG_FIELDS));
  const said = Object.entries(changes).filter(([, value]) => value !== undefined);
  const requested: EngineConfig = { ...given, ...Object.fromEntries(said) }; // null is the default everywhere
  const fixed = { seed, dtype, activationDtype, kvCacheDtype, maxModelLen, numGpuBlocks, blockSize };
  // Where the number of blocks is given, the model's shape has no say.
  const shape = { numLayers: 0, numKvHeads: 0, headDim: 0, maxPositions: maxModelLen };
  const { defaultBatchedTokens } = loaded;
  const backendDefaults = defaultBatchedTokens === null ? {} : { maxNumBatchedTokens: defaultBatchedTokens };
  const next = resolveEngineConfig({ ...requested, ...fixed }, shape, backendDefaults);
  const field = fieldThatRestarts(given, requested, loaded);
  if (field === null) return { given: requested, resolved: next };
  throw refused(field, `${field} ${whyFixed(field, loaded)} Create another engine for that.`);
}

function whyFixed(field: string, { maxNumSeqs, maxNumBatchedTokens, maxSpareSamples }: LoadedSizes): string {
  const limits = new Map([
    ["maxNumSeqs", `exceed ${maxNumSeqs}`],
    ["maxNumBatchedTokens", `exceed ${maxNumBatchedTokens}`],
    ["speculation", `have more than ${maxSpareSamples} drafted tokens in a step`],
  ]);
  const limit = limits.get(field);
  if (limit === undefined) return "can't be changed while the engine runs.";
  return `can't ${limit} while the engine runs: its memory was laid out for that.`;
}

function parseSpeculation(fields: Fields): ResolvedEngineConfig["speculation"] {
  const value = fields.get("speculation");
  if (value === undefined) return null;
  const speculation = new Fields(value, "speculation");
  const given = speculation.oneOf("method", ["ngram", "draft_model"]);
  const method = speculation.needed("method", given);
  speculation.refuseOthers(["method", "num_speculative_tokens", method === "ngram" ? "minMatch" : "model"]);
  const read = { ...defaultsOf(DRAFT_FIELDS), ...readFields(speculation, DRAFT_FIELDS) };
  const { num_speculative_tokens: numTokens, minMatch } = read;
  if (method === "ngram") return { method, numTokens, minMatch };
  speculation.needed("model", speculation.get("model"));
  return { method, numTokens };
}

/** Here null means "never"; only undefined counts as left out. */
function parseAlerts(config: Fields, targetItlMs: number | null): ResolvedAlertThresholds {
  const fields = new Fields(config.get("alerts") ?? {}, "alerts");
  const names = Object.keys(ALERT_FIELDS);
  fields.refuseOthers(names);
  const never = names.filter((name) => fields.isNull(name)).map((name) => [name, null]);
  return Object.freeze({
    ...defaultsOf(ALERT_FIELDS),
    ...(targetItlMs !== null && { itlMs: targetItlMs }),
    ...readFields(fields, ALERT_FIELDS),
    ...(Object.fromEntries(never) as Partial<Record<keyof typeof ALERT_FIELDS, null>>),
  });
}

function numBlocksIn(
  kvCacheBytes: number | undefined,
  shapes: readonly CachedShape[],
  engine: Pick<ResolvedEngineConfig, "maxModelLen" | "blockSize" | "kvCacheDtype" | "speculation">,
): number {
  const sum = (bytesOf: (shape: CachedShape) => number) => shapes.map(bytesOf).reduce((all, bytes) => all + bytes);
  const bytesOf = (numGpuBlocks: number) => sum((shape) => cacheBytes(shape, { ...engine, numGpuBlocks }));
  const least = bytesOf(1);
  const within = (bytes: number) =>
    Math.max(
      1,
      largestCount(CONFIG_FIELDS.numGpuBlocks.max, (count) => bytesOf(count) <= bytes),
    );
  if (kvCacheBytes === undefined) {
    const requested = DEFAULT_FULL_CONTEXTS * Math.ceil(engine.maxModelLen / engine.blockSize);
    return Math.min(requested, within(Math.max(DEFAULT_KV_CACHE_BYTES, DEFAULT_STATES * sum(stateBytes))));
  }
  if (kvCacheBytes < least) {
    const needed = `${byteSize(least)} (${least} bytes)`;
    const why = `kvCacheBytes is ${kvCacheBytes}, but the smallest cache of this model takes ${needed}.`;
    throw refused("kvCacheBytes", why);
  }
  return within(kvCacheBytes);
}
