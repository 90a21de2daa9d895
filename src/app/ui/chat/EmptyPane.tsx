import { useStore } from "zustand";
import { fitWhenDone } from "../../state/batch/fit-when-done.ts";
import { EMBEDDED_MODEL } from "../../state/models/embedded-model.ts";
import { labelOfChoice } from "../../state/models/model-choice.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { MAX_PANES } from "../../state/workspace/saved-workspace.ts";
import { perform } from "../actions/actions.ts";
import { useApp, usePage } from "../app/page-context.ts";
import { Button, Icon } from "../components/Button.tsx";
import { askFour, BEGINNINGS, STARTERS, SUM_STARTER } from "./ask-four.ts";
import { focusMessageOf } from "./Composer.tsx";
import { showPane } from "./pane-links.ts";
import { answerEnded } from "../../state/chat/answer-ended.ts";
import { waitingCalls } from "../../state/chat/tool-rounds.ts";
import { NOTHING_LOADED } from "../../state/engine/load-stages.ts";
import { titleOf } from "../../state/chat/note.ts";
import { CopyDetails } from "../components/CopyDetails.tsx";
import { DocsLink } from "../components/DocsLink.tsx";
import { StartAgainButton } from "../engine/StartAgainButton.tsx";
import { StageBar } from "../engine/StageBar.tsx";

/** Shows the answerer and first questions; before that, in the first pane, loading in the same place: nothing moves. */
export function EmptyPane({ pane, isFirst }: { pane: Pane; isFirst: boolean }) {
  const app = useApp();
  const page = usePage();
  const { continuesText, isRemote } = useStore(pane.asking);
  const choice = useStore(app.engine.chosen, ({ model }) => model);
  const isLoading = useStore(app.engine.store, ({ status }) => status !== "ready") && isFirst;
  const ask = (question: string) => {
    pane.send(question);
    focusMessageOf(pane);
  };
  const askSum = () => {
    pane.send(SUM_STARTER, { calculator: true, tool_choice: "once" });
    focusMessageOf(pane);
    void answerEnded(pane).then(() => explainCall(pane));
  };
  const { batch, workspace } = app;
  const askAll = () => {
    const askedPanes = askFour(workspace);
    const [first] = askedPanes;
    if (!first) return workspace.undoList.notify(`${MAX_PANES} panes are open: close one first`);
    fitWhenDone(askedPanes, batch.timeline, batch.dock);
    showPane(app, first);
  };
  return (
    <>
      {/* They alternate: both are in one cell, as high as the higher. */}
      <div className="mb-5 grid *:[grid-area:1/1] short:mb-3">
        {isLoading ? <LoadCard /> : <Loading isOver />}
        {!isRemote && (
          <div style={{ visibility: isLoading ? "hidden" : undefined }}>
            <h3 className="mb-1 t-18 tracking-[-0.01em] text-balance">
              You&rsquo;re talking to {labelOfChoice(choice)}
            </h3>
            {/* So that nobody believes the embedded model. */}
            <p className="t-14 text-pretty text-ink-2 short:t-12">
              {choice.model === EMBEDDED_MODEL
                ? "A tiny model trained for this project. It runs in this tab, and it makes things up. To use a larger model or your own, click its name at the top."
                : "It runs in this tab, and what you write stays in this browser."}
            </p>
            {!continuesText && (
              <p className="t-14 text-pretty text-ink-2 short:t-12">
                It can call a calculator:{" "}
                <button type="button" className="bare underline" onClick={askSum}>
                  {SUM_STARTER}
                </button>
              </p>
            )}
          </div>
        )}
      </div>
      {/* Without room below the suggestions the button stands above them. */}
      <div className="grid shorter:grid-cols-[1fr_auto] shorter:grid-rows-[calc(var(--control-h)+4px)]">
        <p className="small mb-2 shorter:mb-0 shorter:self-center">
          {continuesText ? "Write the beginning of a text, and the model continues it. For example" : "Start with"}
        </p>
        <ul className="shorter:col-span-2 shorter:row-start-2">
          {(continuesText ? BEGINNINGS : STARTERS).map((question) => (
            <li key={question}>
              <button
                type="button"
                className="bare flex w-full items-center gap-2 border-t border-line py-2.25 [font:400_16px/22px_var(--serif)] hover:bg-surface-2"
                onClick={() => ask(question)}
              >
                {question}
                <Icon name="northeast" className="ml-auto text-ink-3" />
              </button>
            </li>
          ))}
        </ul>
        {isFirst && (
          <div className="row mt-3 justify-self-start shorter:col-start-2 shorter:row-start-1 shorter:m-0 shorter:self-start">
            <Button icon="all" onClick={askAll}>
              Ask all four at once
            </Button>
            <Button look="quiet" aria-haspopup="dialog" onClick={() => perform("help.open", page)}>
              About Chorus
            </Button>
          </div>
        )}
      </div>
    </>
  );
}

function explainCall(pane: Pane): void {
  if (waitingCalls(pane.store.getState().turns.at(-1) ?? {}).length === 0) return;
  const body =
    "It had to, here: a grammar makes the call valid, but a tiny model's numbers are often wrong. Run it, and the model gets the exact result.";
  pane.notify({ kind: "info", title: "The model calls the calculator", body });
}

/** Shows how far the model is loaded, or why it failed. Nothing once it runs. */
function LoadCard() {
  const { engine } = useApp();
  const modelLabel = useStore(engine.chosen, ({ model }) => labelOfChoice(model));
  const state = useStore(engine.store);
  if (state.status === "ready") return null;
  if (state.status === "loading") return <Loading />;
  return (
    <div role="alert">
      <h3 className="mb-1 t-18 tracking-[-0.01em] text-balance">
        {state.status === "dead" ? titleOf(state.error) : `${modelLabel} could not be started`}
      </h3>
      <p className="max-h-[40vh] overflow-y-auto t-14 text-pretty whitespace-pre-line text-ink-2">
        {state.error.message}
      </p>
      <p className="mt-2 mb-4 t-14 text-pretty text-ink-2">
        What you write meanwhile is kept and is sent when the model runs.
      </p>
      <div className="row flex-wrap">
        <StartAgainButton />
        <CopyDetails error={state.error} />
        <DocsLink page="troubleshooting" at={state.error.code}>
          About this error
        </DocsLink>
      </div>
    </div>
  );
}

/** @param isOver for the place that it takes, empty */
function Loading({ isOver = false }: { isOver?: boolean }) {
  const modelLabel = useStore(useApp().engine.chosen, ({ model }) => labelOfChoice(model));
  return (
    <div className={isOver ? "invisible" : undefined} aria-hidden={isOver || undefined}>
      <h3 className="mb-1 t-18 tracking-[-0.01em] text-balance">Getting {modelLabel} ready</h3>
      <p className="t-14 text-pretty text-ink-2 short:hidden">
        You can write now. Messages wait here and are sent when the model is ready.
      </p>
      <StageBar {...(isOver && { stages: NOTHING_LOADED })} className="small mt-3" />
    </div>
  );
}
