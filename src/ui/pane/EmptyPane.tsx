import type { AppState } from "../../state/app-state.ts";
import type { EngineControl } from "../../state/engine-control.ts";
import { labelOfChoice } from "../../state/model-choice.ts";
import { EMBEDDED_MODEL } from "../../state/page-options.ts";
import type { Pane } from "../../state/pane.ts";
import { Icon } from "../Icon.tsx";
import { useStore } from "../use-store.ts";
import { LoadCard } from "./LoadCard.tsx";
import css from "./EmptyPane.module.css";

const STARTERS = [
  "Tell me a story about a purple octopus",
  "What is the capital of Canada?",
  "Why is the sky blue?",
  "Tell me a joke",
];

/** What to begin with; in the first pane also how far the model is. */
export function EmptyPane({ app, pane, isFirst }: { app: AppState; pane: Pane; isFirst: boolean }) {
  return (
    <>
      {isFirst && <LoadCard engine={app.engine} />}
      <p className={css.hint}>Start with</p>
      <ul className={css.starters}>
        {STARTERS.map((question) => (
          <li key={question}>
            <button type="button" onClick={() => pane.send(question)}>
              {question}
              <Icon name="northeast" />
            </button>
          </li>
        ))}
      </ul>
      <AboutModel engine={app.engine} />
    </>
  );
}

/** Said plainly, before anybody takes its word for something. */
function AboutModel({ engine }: { engine: EngineControl }) {
  const choice = useStore(engine.choice, (state) => state);
  if (choice.model !== EMBEDDED_MODEL) return null;
  return (
    <p className={css.about}>
      You talk to {labelOfChoice(choice)}, a tiny model trained for this project. It runs in this tab, and it makes
      things up. Larger ones, and your own, are behind its name at the top of the page.
    </p>
  );
}
