// Decides which changes of a config a running engine can make between two steps, and for which it must be loaded again.

import { CONFIG_FIELDS, DRAFT_FIELDS, type EngineConfig, type ModelSource } from "./config.ts";
import { slotsAndRows, spareSamples, type StepSizes } from "./step-sizes.ts";

type Fields = typeof CONFIG_FIELDS;
type LiveField = { [Name in keyof Fields]: Fields[Name]["takesEffect"] extends "restart" ? never : Name }[keyof Fields];

export const LIVE_FIELDS: readonly LiveField[] = (Object.keys(CONFIG_FIELDS) as (keyof Fields)[]).filter(
  (name): name is LiveField => CONFIG_FIELDS[name].takesEffect !== "restart",
);

/** Fields that are to change. null: back to the default. */
export type EngineChanges = { [Name in LiveField]?: EngineConfig[Name] | null };

/** What an engine was loaded with: until it is loaded again, its steps can be smaller, but no larger. */
export interface LoadedSizes extends StepSizes {
  /** Stays in memory, also while nothing is drafted. Null: there is none. */
  readonly draftModel: ModelSource | null;
  /** The token budget where none is set; null: the library's. */
  readonly defaultBatchedTokens: number | null;
}

/** Returns the changes that lead from one config to the other. Only for configs of the same model's engine. */
export function changesBetween(before: EngineConfig, after: EngineConfig): EngineChanges {
  const changed = LIVE_FIELDS.filter((name) => !isSame(before[name], after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]));
}

/**
 * Returns the first field for which a running engine must be loaded again; null: it can change from one config to the other
 * between two steps.
 */
export function fieldThatRestarts(before: EngineConfig, after: EngineConfig, loaded: LoadedSizes): string | null {
  const names = Object.keys({ ...before, ...after }) as (keyof EngineConfig)[];
  const live: readonly string[] = LIVE_FIELDS;
  const fixed = names.find((name) => !live.includes(name) && !isSame(before[name], after[name]));
  if (fixed !== undefined) return fixed;
  const draftModel = draftModelOf(after);
  if (draftModel !== null && !isEqual(draftModel, loaded.draftModel)) return "speculation.model";
  const { speculation } = after;
  const sizes = slotsAndRows(after, loaded.defaultBatchedTokens);
  if (sizes.maxNumSeqs > loaded.maxNumSeqs) return "maxNumSeqs";
  if (sizes.maxNumBatchedTokens > loaded.maxNumBatchedTokens) return "maxNumBatchedTokens";
  const draftLength = speculation
    ? (speculation.num_speculative_tokens ?? DRAFT_FIELDS.num_speculative_tokens.default)
    : 0;
  return spareSamples(sizes.maxNumSeqs, draftLength) > loaded.maxSpareSamples ? "speculation" : null;
}

export function draftModelOf({ speculation }: EngineConfig): ModelSource | null {
  return speculation?.method === "draft_model" ? speculation.model : null;
}

/** Compares two values of a field. null is the default, as a missing field is. */
function isSame(a: unknown, b: unknown): boolean {
  return isEqual(a ?? null, b ?? null);
}

/** Compares plain data. Files are equal only where they are the same objects. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(a)) return false;
  const [one, other] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return Object.keys({ ...one, ...other }).every((name) => isEqual(one[name], other[name]));
}
