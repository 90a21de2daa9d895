import type { AppState } from "../../state/app-state.ts";
import type { Pane } from "../../state/pane.ts";
import { Icon } from "../Icon.tsx";
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
      {isFirst && <LoadCard engine={app.engine} modelLabel={app.modelLabel} />}
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
    </>
  );
}
