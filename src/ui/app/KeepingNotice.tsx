import type { KeepingStatus, WorkspaceKeeper } from "../../state/workspace/workspace-keeper.ts";
import { Button } from "../components/Button.tsx";
import css from "./KeepingNotice.module.css";
import { useStore } from "../use-store.ts";

const WORDS: Record<Exclude<KeepingStatus, "kept">, string> = {
  damaged: "The chats from last time could not be read. They were put aside; new ones are kept.",
  elsewhere: "Chorus is open in another tab, which keeps the chats now. What is said here is kept when that is closed.",
  crowded: "The other tab was closed, and there is no room here for its chats. Close panes: before, nothing is kept.",
  "not-kept": "This browser does not let the page keep its chats: they last until it is closed.",
};

/** A line above the panes, where what is said might be lost. */
export function KeepingNotice({ keeper }: { keeper: WorkspaceKeeper }) {
  const status = useStore(keeper.store, (state) => state);
  if (status === "kept") return null;
  return (
    <div className={css.notice}>
      <output>{WORDS[status]}</output>
      {status === "elsewhere" && <Button onClick={() => keeper.takeOver()}>Take over</Button>}
    </div>
  );
}
