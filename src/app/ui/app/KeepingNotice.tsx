import type { KeepingStatus, WorkspaceKeeper } from "../../state/workspace/workspace-keeper.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";
import { Button } from "../components/Button.tsx";
import { Notice } from "../components/Notice.tsx";
import { saveAllChats, saveDamaged } from "../save-chats.ts";
import { useStore } from "../use-store.ts";

const WORDS: Record<Exclude<KeepingStatus, "kept">, string> = {
  damaged: "Your earlier chats could not be read. They are kept as they are; new chats are saved.",
  "not-kept":
    "Not saved: this browser doesn't let the page save its chats, or it has no space left. Chorus keeps trying. Until it succeeds, the chats last only as long as this page.",
};

/** A line above the panes that warns when chats may not be saved. */
export function KeepingNotice({ keeper, workspace }: { keeper: WorkspaceKeeper; workspace: Workspace }) {
  const status = useStore(keeper.store);
  if (status === "kept") return null;
  return (
    <Notice words={WORDS[status]}>
      {status === "damaged" && <Button onClick={() => void saveDamaged(keeper.storage)}>Save them to a file</Button>}
      {status === "not-kept" && <Button onClick={() => void saveAllChats({ workspace })}>Export the chats</Button>}
    </Notice>
  );
}
