// The models in the picker: the embedded one, those the person added, and the catalogue.

import { DEFAULT_HUB_URL, DEFAULT_REVISION, type CatalogueEntry, type StoredModel } from "../../../index.ts";
import { keyOfChoice, labelOfChoice, type NamedChoice } from "./model-choice.ts";

export type ListedModel = Readonly<ReturnType<typeof listModels>[number]>;

/** Whether its files need no download. */
export function isOnThisComputer({ isEmbedded, stored }: ListedModel): boolean {
  return isEmbedded || stored?.status === "whole";
}

/** Lists models, always in the same order, so that nothing moves when a download ends. */
export function listModels(
  embedded: NamedChoice,
  catalogue: readonly CatalogueEntry[],
  stored: readonly StoredModel[],
  added: readonly NamedChoice[],
) {
  const storedByKey = new Map(stored.map((model) => [keyOfChoice(choiceOf(model)), model]));
  // The smaller download, unless the other one is there, or was begun.
  const abouts = catalogue.map((about) => {
    const choice = choiceOf(about);
    const { gguf } = about;
    return { about, choice: gguf === undefined || storedByKey.has(keyOfChoice(choice)) ? choice : { model: gguf } };
  });
  const known = new Set([embedded, ...abouts.map(({ choice }) => choice)].map(keyOfChoice));
  // Added models keep their place, and their access token for later downloads.
  const brought = new Map([...added, ...stored.map(choiceOf), ...added].map((choice) => [keyOfChoice(choice), choice]));
  const listed = (choice: NamedChoice, about: CatalogueEntry | null = null) => ({
    key: keyOfChoice(choice),
    choice,
    title: about?.title ?? labelOfChoice(choice),
    about,
    /** Whether it comes with the page: needs no download. */
    isEmbedded: keyOfChoice(choice) === keyOfChoice(embedded),
    /** Its files in this browser. */
    stored: storedByKey.get(keyOfChoice(choice)) ?? null,
  });
  const models = [
    listed(embedded),
    ...[...brought].filter(([key]) => !known.has(key)).map(([, choice]) => listed(choice)),
    ...abouts.map(({ about, choice }) => listed(choice, about)),
  ];
  const isAlike = ({ title }: { readonly title: string }) => models.filter((other) => other.title === title).length > 1;
  return models.map((model) => (isAlike(model) ? { ...model, title: wholeNameOf(model.key) } : model));
}

/** Returns a name that no other model has: "owner/name", with the hub and the revision where they are not the default ones. */
function wholeNameOf(key: string): string {
  return key.replace(`${DEFAULT_HUB_URL} `, "").replace(new RegExp(` ${DEFAULT_REVISION}$`), "");
}

function choiceOf({ model, revision, ...rest }: CatalogueEntry | StoredModel): NamedChoice {
  const hubUrl = "hubUrl" in rest ? rest.hubUrl : null;
  return { model, ...(revision !== null && { revision }), ...(hubUrl !== null && { hubUrl }) };
}
