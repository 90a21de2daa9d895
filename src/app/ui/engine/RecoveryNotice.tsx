import { useStore } from "zustand";
import { useApp } from "../app/page-context.ts";
import { titleOf } from "../../state/chat/note.ts";
import { Icon } from "../components/Button.tsx";
import { Notice } from "../components/Notice.tsx";
import { StageBar } from "./StageBar.tsx";

/** Shown while the engine replaces a lost device or restarts by itself: the event, the kept chats, and the progress. */
export function RecoveryNotice() {
  const { engine, recovery } = useApp();
  const cause = useStore(recovery);
  const goesOn = useStore(engine.store, ({ status }) => status === "ready");
  if (cause === null) return null;
  return (
    <Notice
      className="flex-wrap gap-x-5 gap-y-1 [&>output]:min-w-60"
      words={
        <>
          <b className="mr-2 inline-flex items-center gap-1.5 align-bottom text-warn">
            <Icon name="warn" />
            {titleOf(cause)}
          </b>{" "}
          {goesOn
            ? "Another one is being set up. Answers go on where they were."
            : "It restarts by itself. Your chats are kept, and waiting questions are sent once it runs."}
        </>
      }
    >
      <StageBar className="flex-[0_0_220px] t-12 max-sm:basis-full" />
    </Notice>
  );
}
