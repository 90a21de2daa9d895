import { useId, useState, type FormEvent, type RefObject } from "react";
import { WEIGHTS_DTYPES } from "../../../index.ts";
import type { AppState } from "../../state/app/app-state.ts";
import { remoteName } from "../../state/connections/connections.ts";
import { remoteChoices, writeRemote } from "../../state/connections/remote-choices.ts";
import { canRunTogether, MAX_SIDES, type DuelSetup, type DuelSide } from "../../state/duel/duel.ts";
import {
  BATCHING_MODES,
  DUEL_THINGS,
  modelsHere,
  problemOf,
  sideOf,
  defaultValues,
  type DuelThing,
} from "../../state/duel/duel-things.ts";
import { keyOfChoice, labelOfChoice } from "../../state/models/model-choice.ts";
import { Button } from "../components/Button.tsx";
import { focusOnOpening } from "../components/Menu.tsx";
import { CloseButton, Dialog } from "../components/Dialog.tsx";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import css from "./DuelDialog.module.css";

interface DuelDialogProps {
  readonly ref: RefObject<HTMLDialogElement | null>;
  readonly app: AppState;
  readonly onStart: (setup: DuelSetup) => void;
}

const NAMES: Record<DuelThing, string> = {
  seed: "the seed",
  temperature: "the temperature",
  dtype: "the format of the weights",
  model: "the model",
  answerer: "who answers",
  mode: "the batching mode",
};

/** Sets up a duel: the question, the setting that differs, and each side's value of it. */
export function DuelDialog({ ref, app, onStart }: DuelDialogProps) {
  const id = useId();
  const status = useStore(app.engine.store, (state) => state.status);
  const choice = useStore(app.engine.choice, (state) => state);
  const isShared = useStore(app.engine.isShared, (state) => state);
  const shelf = useStore(app.shelf.store, (state) => state.models);
  const servers = useStore(app.connections.store, (state) => state.connections);
  const choices = { choice, models: modelsHere(choice, shelf), remotes: remoteChoices(servers, null), isShared };

  const [question, setQuestion] = useState("Tell me a story about a fox");
  const [thing, setThing] = useState<DuelThing>("seed");
  const [values, setValues] = useState<readonly string[]>(() => defaultValues("seed", choices));
  const choose = (next: DuelThing) => {
    setThing(next);
    setValues(defaultValues(next, choices));
  };
  const options: readonly (readonly [value: string, name: string])[] =
    thing === "dtype"
      ? WEIGHTS_DTYPES.map((dtype) => [dtype, dtype] as const)
      : thing === "model"
        ? choices.models.map((model) => [keyOfChoice(model), labelOfChoice(model)] as const)
        : thing === "mode"
          ? BATCHING_MODES.map((mode) => [mode, mode] as const)
          : thing === "answerer"
            ? [
                ["", "This page"] as const,
                ...choices.remotes.map((remote) => [writeRemote(remote), remoteName(remote)] as const),
              ]
            : [];
  const isNumber = thing === "seed" || thing === "temperature";
  const sides = values.map((value) => sideOf(thing, value, choices)).filter((side): side is DuelSide => side !== null);
  const problem =
    question.trim() === ""
      ? "A duel needs a question."
      : (whyNot(thing, options.length) ?? problemOf(thing, values, choices));
  const isReady = status === "ready" || thing === "answerer";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (problem !== null || !isReady) return;
    ref.current?.close();
    onStart({ question: question.trim(), sides });
  };
  const setValue = (at: number, value: string) => setValues(values.map((one, i) => (i === at ? value : one)));
  return (
    <Dialog ref={ref} name="Set up a duel" className={css.dialog}>
      <form className={css.form} onSubmit={submit}>
        <div className={css.head}>
          <h2>Set up a duel</h2>
          <CloseButton onClick={() => ref.current?.close()} />
        </div>
        <label htmlFor={`${id}-question`}>Question</label>
        <textarea
          id={`${id}-question`}
          ref={focusOnOpening}
          rows={3}
          dir="auto"
          value={question}
          onChange={({ target }) => setQuestion(target.value)}
        />
        <label htmlFor={`${id}-thing`}>The sides differ in</label>
        <select id={`${id}-thing`} value={thing} onChange={({ target }) => choose(target.value as DuelThing)}>
          {DUEL_THINGS.map((one) => (
            <option key={one} value={one}>
              {NAMES[one]}
            </option>
          ))}
        </select>
        <fieldset className={css.sides}>
          <legend>Sides</legend>
          {values.map((value, i) => (
            // oxlint-disable-next-line react/no-array-index-key -- a side is its place
            <div key={i} className={css.side}>
              {isNumber ? (
                <input
                  aria-label={`Side ${i + 1}`}
                  inputMode="decimal"
                  value={value}
                  onChange={({ target }) => setValue(i, target.value)}
                />
              ) : (
                <select aria-label={`Side ${i + 1}`} value={value} onChange={({ target }) => setValue(i, target.value)}>
                  {options.map(([option, name]) => (
                    <option key={option} value={option}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
              {values.length > 2 && (
                <Button
                  look="icon"
                  aria-label={`Remove side ${i + 1}`}
                  onClick={() => setValues(values.filter((_, at) => at !== i))}
                >
                  <Icon name="close" />
                </Button>
              )}
            </div>
          ))}
          {values.length < MAX_SIDES && (
            <Button
              look="quiet"
              onClick={() => setValues([...values, options[values.length]?.[0] ?? `${values.length + 1}`])}
            >
              <Icon name="plus" />
              Add a side
            </Button>
          )}
        </fieldset>
        <p className={css.hint}>
          {canRunTogether(sides)
            ? "All sides answer at the same time. They have the same settings, and the same seed unless that differs."
            : thing === "mode"
              ? "One side after the other. Each asks four times at once, with four seeds, so that there is a batch; the first answer is shown."
              : "One side after the other: the engine is started again for each, which stops answers in progress, and at the end once more."}
        </p>
        <output className={css.problem}>
          {problem ?? (isReady ? "" : status === "loading" ? "Getting the model ready …" : "The engine does not run.")}
        </output>
        <div className={css.actions}>
          <Button look="ink" type="submit" disabled={problem !== null || !isReady}>
            Start the duel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Returns why the thing can't be chosen; null if there are enough options. */
function whyNot(thing: DuelThing, numOptions: number): string | null {
  if (thing === "model" && numOptions < 2) {
    return "There is one model in this browser. Download another, or open your own files, behind the model's name in the chats.";
  }
  if (thing === "answerer" && numOptions < 2) return "There is no server yet. Add one under Connections in the chats.";
  return null;
}
