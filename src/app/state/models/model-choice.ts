// The model that the page runs, as createEngine takes it. It is remembered over a reload if it has a name.

import {
  DEFAULT_HUB_URL,
  DEFAULT_REVISION,
  isHubId,
  locateRemoteModel,
  nameOfModel,
  WEIGHTS_DTYPES,
  type HubOptions,
  type ModelSource,
  type WeightsDtype,
} from "../../../index.ts";
import { attempt } from "../../attempt.ts";
import { oneOf, optional, recordOf, text } from "../read-record.ts";
import { remember, rememberedJson } from "../remembered.ts";

export interface ModelChoice extends HubOptions {
  readonly model: ModelSource;
  /** [the engine's own] */
  readonly dtype?: WeightsDtype;
}

/** A choice that can be saved. */
export type NamedChoice = ModelChoice & { readonly model: string };

export function isNamed(choice: ModelChoice): choice is NamedChoice {
  return typeof choice.model === "string";
}

/** Returns the choice of a named model (hub id or address), as the store writes it. @throws ChorusError naming the field */
export function namedChoice(name: string, hub: HubOptions = {}): NamedChoice {
  const location = locateRemoteModel(name, hub, globalThis.document?.baseURI);
  const model = nameOfModel(location);
  if (location.type === "folder") return { model };
  const { revision, hubUrl, token } = location;
  return { model, revision, hubUrl, ...(token !== null && { token }) };
}

/** Returns the choice that the page's address names. A folder stays relative to the page. What is no model is refused when it is loaded. */
export function choiceInAddress(model: string): NamedChoice {
  return attempt(() => (isHubId(model) ? namedChoice(model) : { model }), { model });
}

/** Returns a key that is equal for equal models. Files are a new model each time. */
export function keyOfChoice({ model, revision, hubUrl }: ModelChoice): string {
  if (typeof model !== "string") return "files";
  return isHubId(model) ? `${hubUrl ?? DEFAULT_HUB_URL} ${model} ${revision ?? DEFAULT_REVISION}` : model;
}

/** Returns a model's name before it is loaded: "chorus-chat" for "models/chorus-chat/" and "owner/chorus-chat". */
export function labelOfChoice({ model }: ModelChoice): string {
  if (typeof model === "string") return model.split("/").findLast((part) => part !== "") ?? model;
  const files = Array.isArray(model) ? model : [model];
  const folder = files.find(({ webkitRelativePath }) => webkitRelativePath !== "")?.webkitRelativePath;
  const gguf = files.find(({ name }) => /\.gguf$/i.test(name))?.name;
  return folder?.split("/")[0] ?? gguf ?? "your files";
}

const NAME = "model";

/** Saves the choice. Files have no name, so a reload finds the choice before them. Access tokens are not saved. */
export function rememberChoice(chosen: ModelChoice): void {
  const { token: _, ...choice } = chosen;
  if (isNamed(choice)) remember(NAME, JSON.stringify(choice));
}

const readChoice = recordOf({
  model: text,
  revision: optional(text),
  hubUrl: optional(text),
  dtype: optional(oneOf(...WEIGHTS_DTYPES)),
});

export function rememberedChoice(): NamedChoice | null {
  return rememberedJson(NAME, readChoice, null);
}
