import type { AppState } from "../../state/app-state.ts";
import { EMBEDDED_MODEL } from "../../state/page-options.ts";
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
      {app.model === EMBEDDED_MODEL && <AboutModel name={app.modelLabel} />}
    </>
  );
}

/** Said plainly, before anybody takes its word for something. */
function AboutModel({ name }: { name: string }) {
  return (
    <p className={css.about}>
      You talk to {name}, a tiny model trained for this project. It runs in this tab, and it makes things up. To load a
      larger one, put the address of a GPT-2 model's folder behind this page's: <code>?model=https://…/</code>
    </p>
  );
}
