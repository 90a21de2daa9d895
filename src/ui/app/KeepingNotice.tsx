import type { KeepingStatus, WorkspaceKeeper } from "../../state/workspace/workspace-keeper.ts";
import { Button } from "../components/Button.tsx";
import css from "./KeepingNotice.module.css";
import { useStore } from "../use-store.ts";

const WORDS: Record<Exclude<KeepingStatus, "kept">, string> = {
  damaged: "Your earlier chats could not be read. They were set aside; new chats are saved.",
  elsewhere: "Chorus is open in another tab, which saves the chats. Changes here are saved once that tab closes.",
  crowded:
    "The other tab was closed, and there is no room here for its chats. Close some panes: until then nothing is saved.",
  "not-kept": "This browser doesn't let the page save its chats: they last until the page is closed.",
};

/** A line above the panes that warns when chats may not be saved. */
export function KeepingNotice({ keeper }: { keeper: WorkspaceKeeper }) {
  const status = useStore(keeper.store, (state) => state);
  if (status === "kept") return null;
  return (
    <div className={css.notice}>
      <output>{WORDS[status]}</output>
      {status === "elsewhere" && <Button onClick={() => keeper.takeOver()}>Save here instead</Button>}
    </div>
  );
}
