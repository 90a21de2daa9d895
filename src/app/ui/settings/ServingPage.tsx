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
import css from "./ServingPage.module.css";

type Checked = { readonly settings: Settings; readonly error: null } | { readonly error: ChorusErrorData };

/** How the engine serves: as a form and as a link. Changes are applied together, since some restart the engine. */
export function ServingPage({ app }: { app: AppState }) {
  const used = useStore(app.serving.store, (state) => state.settings);
  const isFromLink = useStore(app.serving.store, ({ link }) => link?.status === "applied");
  return (
    <div>
      <PageHead title="Serving" />
      <main className={css.main}>
        <p className={css.about}>
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
      <div className={css.fields}>
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
      <div className={css.foot}>
        <div className="row wrap">
          <Button look="ink" onClick={() => void apply()}>
            Apply
          </Button>
          <Button look="quiet" onClick={() => edit(blank({ ...used, ...edits }))}>
            Reset serving
          </Button>
          {checked.error === null && (
            <span className={css.copy}>
              Link <CopyButton name="Copy link" text={addressWith(writeServingLink(checked.settings))} />
            </span>
          )}
        </div>
        <output ref={outcomeLine} className={css.outcome}>
          {failure ? (
            <span className="bad">{failureWords(failure)}</span>
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
