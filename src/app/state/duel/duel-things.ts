import type { RemoteModel } from "../../remote/answerer.ts";
import { CONFIG_FIELDS, WEIGHTS_DTYPES, type BatchingMode, type WeightsDtype } from "../../../index.ts";
import { remoteName } from "../connections/connections.ts";
import { readRemote, writeRemote } from "../connections/remote-choices.ts";
import { keyOfChoice, labelOfChoice, type ModelChoice } from "../models/model-choice.ts";
import type { ShelfModel } from "../models/model-shelf.ts";
import type { DuelSide } from "./duel.ts";

/** The settings in which the sides of a duel can differ. */
export const DUEL_THINGS = ["seed", "temperature", "dtype", "model", "answerer", "mode"] as const;
export type DuelThing = (typeof DUEL_THINGS)[number];

export const BATCHING_MODES: readonly BatchingMode[] = CONFIG_FIELDS.batchingMode.choices;

/** The available choices. */
export interface DuelChoices {
  /** The model of the page's engine. */
  readonly choice: ModelChoice;
  readonly models: readonly ModelChoice[];
  /** Models of the servers that this browser is connected to. */
  readonly remotes: readonly RemoteModel[];
  /** Whether tabs share the engine. */
  readonly isShared: boolean;
}

/** Returns the models that can start at once: those in this browser, and the one that the page runs. */
export function modelsHere(
  choice: ModelChoice,
  shelf: readonly Pick<ShelfModel, "choice" | "isEmbedded" | "stored">[],
): readonly ModelChoice[] {
  const here = shelf.filter(({ isEmbedded, stored }) => isEmbedded || stored !== null).map((model) => model.choice);
  const isListed = here.some((one) => keyOfChoice(one) === keyOfChoice(choice));
  return isListed ? here : [choice, ...here];
}

/** Returns the first values of two sides, as text. */
export function defaultValues(thing: DuelThing, { choice, models, remotes }: DuelChoices): readonly [string, string] {
  switch (thing) {
    case "seed":
      return ["1", "2"];
    case "temperature":
      return ["0", "1"];
    case "dtype":
      return ["f16", "q4"];
    case "model": {
      const first = keyOfChoice(choice);
      return [first, models.map(keyOfChoice).find((key) => key !== first) ?? first];
    }
    case "answerer":
      return ["", writeRemote(remotes[0] ?? null)];
    case "mode":
      return ["continuous", "sequential"];
  }
}

/** Returns the side with a chosen or typed value; null if it is invalid. */
export function sideOf(thing: DuelThing, value: string, { choice, models }: DuelChoices): DuelSide | null {
  const number = value.trim() === "" ? NaN : Number(value);
  switch (thing) {
    case "seed":
      return Number.isSafeInteger(number) ? { label: `Seed ${number}`, settings: { seed: number } } : null;
    case "temperature": {
      if (!(number >= 0 && number <= 2)) return null;
      return { label: `Temperature ${number}`, settings: { temperature: number } };
    }
    case "dtype": {
      const dtype = WEIGHTS_DTYPES.find((one): one is WeightsDtype => one === value);
      return dtype ? { label: `${labelOfChoice(choice)} in ${dtype}`, choice: { ...choice, dtype } } : null;
    }
    case "model": {
      const model = models.find((one) => keyOfChoice(one) === value);
      return model ? { label: labelOfChoice(model), choice: model } : null;
    }
    case "answerer": {
      const answerer = readRemote(value);
      return { label: answerer === null ? "This page" : remoteName(answerer), answerer };
    }
    case "mode": {
      const mode = BATCHING_MODES.find((one) => one === value);
      return mode ? { label: `${mode[0]?.toUpperCase()}${mode.slice(1)} batching`, mode } : null;
    }
  }
}

/** Returns the problem of a duel between these values; null if there is none. */
export function problemOf(thing: DuelThing, values: readonly string[], choices: DuelChoices): string | null {
  if (choices.isShared && (thing === "model" || thing === "dtype")) {
    return "Tabs share one engine, and this duel would start it again for all of them. Turn off “One engine for all tabs” in the settings first.";
  }
  if (values.some((value) => sideOf(thing, value, choices) === null)) {
    if (thing === "model") return "Choose a model for each side.";
    return thing === "temperature" ? "A temperature is a number from 0 to 2." : "A seed is a whole number.";
  }
  if (new Set(values.map((value) => value.trim())).size < values.length) {
    return "Each side must be different from the others.";
  }
  return null;
}
