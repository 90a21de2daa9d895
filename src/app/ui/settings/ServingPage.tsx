import { SERVING_HELP } from "../../state/settings/serving-help.ts";
import { useRef, useState } from "react";
import { toErrorData, type ChorusEngine, type ChorusErrorData } from "../../../index.ts";
import type { AppState } from "../../state/app/app-state.ts";
import { REPLACED } from "../../state/engine/engine-control.ts";
import { defaultTextOf, SERVING_FIELDS, type ServingField } from "../../state/settings/serving-fields.ts";
import {
  isUsedWith,
  readServing,
  writeServing,
  writeServingLink,
  type ServingSettings as Settings,
  type TypedServing,
} from "../../state/settings/serving-settings.ts";
import { PageHead } from "../bar/PageHead.tsx";
import { CopyButton } from "../chat/CopyButton.tsx";
import { Button } from "../components/Button.tsx";
import { useStore } from "../use-store.ts";
import { FieldRow } from "./FieldRow.tsx";

type Checked = { readonly settings: Settings; readonly error: null } | { readonly error: ChorusErrorData };

/** How the engine serves: as a form and as a link. Changes are applied together, since some restart the engine. */
export function ServingPage({ app }: { app: AppState }) {
  const used = useStore(app.serving.store, (state) => state.settings);
  const isFromLink = useStore(app.serving.store, ({ link }) => link?.status === "applied");
  return (
    <div>
      <PageHead title="Serving" />
      <main className="mx-auto max-w-220 px-4 pt-3">
        <p className="mb-4 text-ink-2">
          How the engine shares its steps among all chats.
          {isFromLink && " These settings come from the link that opened this page, and count on this visit only."}
        </p>
        <Form app={app} used={used} />
      </main>
    </div>
  );
}

function Form({ app, used }: { app: AppState; used: Settings }) {
  const engine = useStore(app.engine.store, (state) => (state.status === "ready" ? state.engine : null));
  const isLoading = useStore(app.engine.store, ({ status }) => status === "loading");
  /** Changes that are not applied yet. */
  const [edits, setEdits] = useState<TypedServing>({});
  const [outcome, setOutcome] = useState<string | null>(null);
  const [failure, setFailure] = useState<ChorusErrorData | null>(null);
  const outcomeLine = useRef<HTMLOutputElement>(null);

  const typed: TypedServing = { ...writeServing(used), ...edits };
  const method = typed["speculation.method"] ?? "";
  const fields = SERVING_FIELDS.filter((field) => isUsedWith(field, method));
  const checked = check(() => readServing(Object.fromEntries(fields.map(({ name }) => [name, typed[name] ?? ""]))));
  const isChanged = checked.error !== null || writeServingLink(checked.settings) !== writeServingLink(used);
  const lastLineOf = (field: ServingField) =>
    checked.error?.param === field.name
      ? { problem: checked.error.message, note: null }
      : { problem: null, note: effectOf(field, engine) };

  const edit = (next: TypedServing) => {
    setEdits(next);
    setOutcome(null);
    setFailure(null);
  };
  const apply = async () => {
    if (checked.error !== null || isLoading) return;
    if (!isChanged) return setOutcome("These settings are in use.");
    const restarts = app.serving.needsRestart(checked.settings);
    setOutcome(restarts ? "The engine restarts …" : null);
    setFailure(null);
    const error = await app.serving.apply(checked.settings);
    // The page was left meanwhile.
    if (error && outcomeLine.current === null) app.workspace.undoList.notify(failureWords(error));
    setFailure(error);
    setOutcome(error ? null : restarts ? "The engine restarted with these settings. All chats are kept." : "Applied.");
    if (error === null) setEdits({});
  };
  return (
    <>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,340px),1fr))] items-start gap-x-8 gap-y-4 [--box-width:180px] [--help-gap:2px] max-sm:[--box-width:170px]">
        {fields.map((field) => (
          <FieldRow
            key={field.name}
            field={field}
            help={SERVING_HELP[field.name]}
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
          <Button look="quiet" onClick={() => edit(blank({ ...used, ...edits }))}>
            Reset serving
          </Button>
          {checked.error === null && (
            <span className="row ms-auto gap-1 text-ink-2">
              Link <CopyButton name="Copy link" text={addressWith(writeServingLink(checked.settings))} />
            </span>
          )}
        </div>
        {/* As high as its longest text, so that nothing moves. */}
        <output ref={outcomeLine} className="mt-2 block min-h-9 t-12 text-ink-2 max-sm:min-h-13.5">
          {failure ? (
            <span className="text-bad">{failureWords(failure)}</span>
          ) : (
            (outcome ?? (isChanged ? effectOfAll(checked, app) : ""))
          )}
        </output>
      </div>
    </>
  );
}

function check(read: () => Settings): Checked {
  try {
    return { settings: read(), error: null };
  } catch (error) {
    return { error: toErrorData(error) };
  }
}

function failureWords(error: ChorusErrorData): string {
  return error === REPLACED ? error.message : `${error.message} The settings before are used again.`;
}

/** Describes the effect of "Apply". */
function effectOfAll(checked: Checked, { serving }: AppState): string {
  if (checked.error !== null) return `Not applied yet. ${checked.error.message}`;
  return serving.needsRestart(checked.settings)
    ? "Applying this restarts the engine: the model is loaded again. All chats are kept; an answer in progress stops and keeps its text."
    : "Applied at once: nothing is interrupted.";
}

/** Describes the effect of a change of this field alone. */
function effectOf({ takesEffect, name }: ServingField, engine: Pick<ChorusEngine, "sizes"> | null): string {
  if (takesEffect === "live") return "Applied at once.";
  if (takesEffect === "restart") return "Restarts the engine; chats are kept.";
  const most = name === "maxNumSeqs" || name === "maxNumBatchedTokens" ? engine?.sizes[name] : undefined;
  return most === undefined
    ? "Applied at once if the engine was loaded with room for it; else it restarts, and chats are kept."
    : `Applied at once up to ${most}; more restarts the engine, and chats are kept.`;
}

/** Returns each name with an empty text. */
function blank(names: object): TypedServing {
  return Object.fromEntries(Object.keys(names).map((name) => [name, ""]));
}

function addressWith(hash: string): string {
  const url = new URL(location.href);
  url.hash = hash;
  return url.href;
}
