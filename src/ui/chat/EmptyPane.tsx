import type { AppState } from "../../state/app/app-state.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { EMBEDDED_MODEL, labelOfChoice } from "../../state/models/model-choice.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import { LoadCard } from "./LoadCard.tsx";
import { useContinuesText } from "./use-continues-text.ts";
import css from "./EmptyPane.module.css";

const STARTERS = [
  "Tell me a story about a purple octopus",
  "What is the capital of Canada?",
  "Why is the sky blue?",
  "Tell me a joke",
];

/** For models that continue text instead of answering. */
const BEGINNINGS = [
  "Once upon a time, in a house at the edge of the sea,",
  "The capital of Canada is",
  "The sky is blue because",
  "Dear Sir or Madam,",
];

/** Suggests a first message; the first pane also shows the loading progress. */
export function EmptyPane({ app, pane, isFirst }: { app: AppState; pane: Pane; isFirst: boolean }) {
  const isText = useContinuesText(app, pane);
  const isRemote = useStore(pane.store, ({ answerer }) => answerer !== null);
  return (
    <>
      {isFirst && <LoadCard engine={app.engine} />}
      <p className={css.hint}>
        {isText ? "Write the beginning of a text, and the model continues it. For example" : "Start with"}
      </p>
      <ul className={css.starters}>
        {(isText ? BEGINNINGS : STARTERS).map((question) => (
          <li key={question}>
            <button type="button" onClick={() => pane.send(question)}>
              {question}
              <Icon name="northeast" />
            </button>
          </li>
        ))}
      </ul>
      {!isRemote && <AboutModel engine={app.engine} />}
    </>
  );
}

/** Warns that the model is tiny, before anybody believes it. */
function AboutModel({ engine }: { engine: EngineControl }) {
  const choice = useStore(engine.choice, (state) => state);
  if (choice.model !== EMBEDDED_MODEL) return null;
  return (
    <p className={css.about}>
      You&rsquo;re talking to {labelOfChoice(choice)}, a tiny model trained for this project. It runs in this tab, and
      it makes things up. To use a larger model or your own, click its name at the top.
    </p>
  );
}
