import type { AppState } from "../../state/app/app-state.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { EMBEDDED_MODEL } from "../../state/models/embedded-model.ts";
import { labelOfChoice } from "../../state/models/model-choice.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { Icon } from "../components/Icon.tsx";
import { lazily } from "../components/Lazily.tsx";
import { PHONE, useMedia } from "../use-media.ts";
import { useStore } from "../use-store.ts";
import { focusMessageOf } from "./Composer.tsx";
import { LoadCard, LoadCardSpace } from "./LoadCard.tsx";
import { BEGINNINGS, STARTERS } from "./starters.ts";
import { useContinuesText } from "./use-continues-text.ts";
import css from "./EmptyPane.module.css";

const Ideas = lazily(async () => (await import("../ideas/Ideas.tsx")).Ideas);

/**
 * Shows the answerer, and suggests a first message. In the first pane the loading progress comes before that, in the same
 * place: nothing below moves when the model is ready.
 */
export function EmptyPane({ app, pane, isFirst }: { app: AppState; pane: Pane; isFirst: boolean }) {
  const isText = useContinuesText(app, pane);
  const isRemote = useStore(pane.store, ({ answerer }) => answerer !== null);
  const isLoading = useStore(app.engine.store, ({ status }) => status !== "ready") && isFirst;
  // Elsewhere they are in the batch.
  const isPhone = useMedia(PHONE);
  const hasIdeas = useStore(app.batch.ideas.store, (state) => state) && isPhone && isFirst;
  const ask = (question: string) => {
    pane.send(question);
    focusMessageOf(pane);
  };
  return (
    <>
      <div className={css.intro}>
        {isLoading ? <LoadCard engine={app.engine} /> : <LoadCardSpace engine={app.engine} />}
        {!isRemote && <AboutModel engine={app.engine} isHidden={isLoading} />}
      </div>
      <p className={css.hint}>
        {isText ? "Write the beginning of a text, and the model continues it. For example" : "Start with"}
      </p>
      <ul className={css.starters}>
        {(isText ? BEGINNINGS : STARTERS).map((question) => (
          <li key={question}>
            <button type="button" onClick={() => ask(question)}>
              {question}
              <Icon name="northeast" />
            </button>
          </li>
        ))}
      </ul>
      {hasIdeas && <Ideas app={app} />}
    </>
  );
}

/** Warns that the embedded model is tiny, so that nobody believes it. */
function AboutModel({ engine, isHidden }: { engine: EngineControl; isHidden: boolean }) {
  const choice = useStore(engine.choice, (state) => state);
  const isEmbedded = choice.model === EMBEDDED_MODEL;
  return (
    <div className={css.about} style={{ visibility: isHidden ? "hidden" : undefined }}>
      <h3>You&rsquo;re talking to {labelOfChoice(choice)}</h3>
      <p>
        {isEmbedded
          ? "A tiny model trained for this project. It runs in this tab, and it makes things up. To use a larger model or your own, click its name at the top."
          : "It runs in this tab, and what you write stays in this browser."}
      </p>
    </div>
  );
}
