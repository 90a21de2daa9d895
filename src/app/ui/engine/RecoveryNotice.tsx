import type { AppState } from "../../state/app/app-state.ts";
import { currentStage, type LoadStages } from "../../state/engine/load-stages.ts";
import { titleOf } from "../../state/chat/note.ts";
import { classNames } from "../class-names.ts";
import { Icon } from "../components/Icon.tsx";
import notice from "../components/Notice.module.css";
import css from "./RecoveryNotice.module.css";
import { describeStage, STAGE_NAMES } from "./stage-names.ts";
import { useStore } from "../use-store.ts";

/** Shown while the engine replaces a lost device or restarts by itself: the event, the kept chats, and the progress. */
export function RecoveryNotice({ app }: { app: Pick<AppState, "engine" | "recovery"> }) {
  const cause = useStore(app.recovery.store, (state) => state);
  const goesOn = useStore(app.engine.store, ({ status }) => status === "ready");
  const stages = useStore(app.engine.store, (state) => (state.status === "loading" ? state.stages : null));
  if (cause === null) return null;
  return (
    <div className={classNames(notice.notice, css.notice)}>
      <output>
        <b>
          <Icon name="warn" />
          {titleOf(cause)}
        </b>{" "}
        {goesOn
          ? "Another one is being set up. Answers go on where they were."
          : "It restarts by itself. Your chats are kept, and waiting questions are sent once it runs."}
      </output>
      {stages && <Stage stages={stages} />}
    </div>
  );
}

function Stage({ stages }: { stages: LoadStages }) {
  const stage = currentStage(stages);
  const { done, total } = stages[stage];
  return (
    <p className={css.stage}>
      {STAGE_NAMES[stage]} {describeStage(stage, stages[stage])}
      <progress value={done} max={Math.max(1, total)} aria-label={STAGE_NAMES[stage]} />
    </p>
  );
}
