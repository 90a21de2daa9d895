import { useRef, useState } from "react";
import { useStore } from "zustand";
import type { ChorusEngine, ChorusErrorData, ModelCard } from "../../../index.ts";
import { useApp } from "../app/page-context.ts";
import { REPLACED } from "../../state/engine/engine-control.ts";
import { resultOf } from "../../state/error-of.ts";
import { describeValue } from "../../state/settings/field-text.ts";
import {
  engineConfigOf,
  isUsedWith,
  readServing,
  SERVING_FIELDS,
  writeServing,
  writeServingLink,
  type ServingField,
  type ServingName,
  type TypedServing,
} from "../../state/settings/serving-settings.ts";
import { PageHead } from "../bar/PageHead.tsx";
import { CopyButton } from "../chat/CopyButton.tsx";
import { Button } from "../components/Button.tsx";
import { FieldRow } from "./FieldRow.tsx";
import { servingHelp } from "./field-help.ts";

/** How the engine serves: as a form and as a link. Changes are applied together, since some restart the engine. */
export function ServingPage() {
  const { engine: control, serving, workspace } = useApp();
  const used = useStore(serving.store, (state) => state.settings);
  const isFromLink = useStore(serving.store, ({ link }) => link?.status === "applied");
  const engine = useStore(control.store, (state) => (state.status === "ready" ? state.engine : null));
  const isLoading = useStore(control.store, ({ status }) => status === "loading");
  /** Changes that are not applied yet. */
  const [edits, setEdits] = useState<TypedServing>({});
  const [outcome, setOutcome] = useState<string | null>(null);
  const [failure, setFailure] = useState<ChorusErrorData | null>(null);
  const outcomeLine = useRef<HTMLOutputElement>(null);

  const typed: TypedServing = { ...writeServing(used), ...edits };
  const method = typed["speculation.method"] ?? "";
  const fields = SERVING_FIELDS.filter((field) => isUsedWith(field, method));
  const checked = resultOf(() => readServing(Object.fromEntries(fields.map(({ name }) => [name, typed[name] ?? ""]))));
  const isChanged = checked.error !== null || writeServingLink(checked.value) !== writeServingLink(used);
  const lastLineOf = (field: ServingField) =>
    checked.error?.param === field.name
      ? { problem: checked.error.message, note: null }
      : { problem: null, note: effectOf(field, engine) };

  const effectOfAll = () => {
    if (checked.error !== null) return `Not applied yet. ${checked.error.message}`;
    return control.needsRestart(engineConfigOf(checked.value))
      ? "Applying this restarts the engine: the model is loaded again. All chats are kept; an answer in progress stops and keeps its text."
      : "Applied at once: nothing is interrupted.";
  };

  const edit = (next: TypedServing) => {
    setEdits(next);
    setOutcome(null);
    setFailure(null);
  };
  const apply = async () => {
    if (checked.error !== null || isLoading) return;
    if (!isChanged) return setOutcome("These settings are in use.");
    const restarts = control.needsRestart(engineConfigOf(checked.value));
    setOutcome(restarts ? "The engine restarts …" : null);
    setFailure(null);
    const error = await serving.apply(checked.value);
    // The page was left meanwhile.
    if (error && outcomeLine.current === null) workspace.undoList.notify(failureWords(error));
    setFailure(error);
    setOutcome(error ? null : restarts ? "The engine restarted with these settings. All chats are kept." : "Applied.");
    if (error === null) setEdits({});
  };
  return (
    <div>
      <PageHead title="Serving" />
      <main className="mx-auto max-w-220 px-4 pt-3">
        <p className="mb-4 text-ink-2">
          How the engine shares its steps among all chats.
          {isFromLink && " These settings come from the link that opened this page, and count on this visit only."}
        </p>
        <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,340px),1fr))] items-start gap-x-8 gap-y-4 [--box-width:180px] [--help-gap:2px] max-sm:[--box-width:170px]">
          {fields.map((field) => (
            <FieldRow
              key={field.name}
              field={field}
              help={servingHelp(field)}
              text={typed[field.name] ?? ""}
              fallback={defaultTextOf(field, engine?.model ?? null)}
              source={null}
              {...lastLineOf(field)}
              onType={(text) => edit({ ...edits, [field.name]: text })}
            />
          ))}
        </div>
        {/* In view, however long the form is. */}
        <div className="sticky bottom-0 mt-4 border-t border-line bg-paper py-3">
          <div className="row flex-wrap">
            <Button look="ink" onClick={() => void apply()}>
              Apply
            </Button>
            <Button look="quiet" onClick={() => edit(Object.fromEntries(Object.keys(typed).map((name) => [name, ""])))}>
              Reset serving
            </Button>
            {checked.error === null && (
              <span className="row ms-auto gap-1 text-ink-2">
                Link <CopyButton name="Copy link" text={new URL(writeServingLink(checked.value), location.href).href} />
              </span>
            )}
          </div>
          {/* As high as its longest text, so that nothing moves. */}
          <output ref={outcomeLine} className="mt-2 block min-h-9 t-12 text-ink-2 max-sm:min-h-13.5">
            {failure ? (
              <span className="text-bad">{failureWords(failure)}</span>
            ) : (
              (outcome ?? (isChanged ? effectOfAll() : ""))
            )}
          </output>
        </div>
      </main>
    </div>
  );
}

/** Defaults that the library's table does not have, in words. */
const DEFAULTS: { readonly [Name in ServingName]?: string } = {
  numGpuBlocks: "16 full chats",
  "speculation.model": "owner/name",
  "alerts.itlMs": "4 steps",
};

function defaultTextOf(field: ServingField, model: ModelCard | null): string {
  const { name, default: value = null } = field;
  if (name === "maxNumBatchedTokens") return model === null ? "the backend's" : model.backend === "cpu" ? "64" : "256";
  return DEFAULTS[name] ?? (value === null ? "none" : describeValue(field, value));
}

function failureWords(error: ChorusErrorData): string {
  return error === REPLACED ? error.message : `${error.message} The settings before are used again.`;
}

function effectOf({ takesEffect, name }: ServingField, engine: Pick<ChorusEngine, "sizes"> | null): string {
  if (takesEffect === "live") return "Applied at once.";
  if (takesEffect === "restart") return "Restarts the engine; chats are kept.";
  const most = name === "maxNumSeqs" || name === "maxNumBatchedTokens" ? engine?.sizes[name] : undefined;
  return most === undefined
    ? "Applied at once if the engine was loaded with room for it; else it restarts, and chats are kept."
    : `Applied at once up to ${most}; more restarts the engine, and chats are kept.`;
}
