// Which model the page runs, as createEngine takes it; remembered over a reload where it can be named.

import { WEIGHTS_DTYPES, type ModelSource, type WeightsDtype } from "../../protocol/config.ts";
import { DEFAULT_HUB_URL, DEFAULT_REVISION, isHubId, type HubOptions } from "../../protocol/model-source.ts";
import { JsonReader } from "../json-reader.ts";
import { remember, remembered } from "../remembered.ts";

/** The model that the app is built with. */
export const EMBEDDED_MODEL = "models/chorus-chat/";

export interface ModelChoice extends HubOptions {
  readonly model: ModelSource;
  /** [the engine's own] */
  readonly dtype?: WeightsDtype;
}

/** A choice that can be written down. */
export type NamedChoice = ModelChoice & { readonly model: string };

export function isNamed(choice: ModelChoice): choice is NamedChoice {
  return typeof choice.model === "string";
}

/** The same for whatever means the same model. Files are one of a kind each time they are given. */
export function keyOfChoice({ model, revision, hubUrl }: ModelChoice): string {
  if (typeof model !== "string") return "files";
  return isHubId(model) ? `${hubUrl ?? DEFAULT_HUB_URL} ${model} ${revision ?? DEFAULT_REVISION}` : model;
}

/** "models/chorus-chat/" and "owner/chorus-chat" are both "chorus-chat": its name until it has told its own. */
export function labelOfChoice({ model }: ModelChoice): string {
  if (typeof model === "string") return model.split("/").findLast((part) => part !== "") ?? model;
  const folder = model.find(({ webkitRelativePath }) => webkitRelativePath !== "")?.webkitRelativePath;
  return folder?.split("/")[0] ?? "your files";
}

const NAME = "model";

/** Files can't be named, so the choice before them is what a reload finds. Tokens are not written down. */
export function rememberChoice(choice: ModelChoice): void {
  if (!isNamed(choice)) return;
  const { model, revision = null, hubUrl = null, dtype = null } = choice;
  remember(NAME, JSON.stringify({ model, revision, hubUrl, dtype }));
}

/** Null where there is none, or none that can be read. */
export function rememberedChoice(): NamedChoice | null {
  const text = remembered(NAME);
  if (text === null) return null;
  try {
    const reader = new JsonReader(JSON.parse(text));
    const textOf = (name: string) => reader.field(name).orNull((field) => field.string());
    const [revision, hubUrl] = [textOf("revision"), textOf("hubUrl")];
    const dtype = reader.field("dtype").orNull((field) => field.oneOf(WEIGHTS_DTYPES));
    return {
      model: reader.field("model").string(),
      ...(revision !== null && { revision }),
      ...(hubUrl !== null && { hubUrl }),
      ...(dtype !== null && { dtype }),
    };
  } catch {
    return null;
  }
}
