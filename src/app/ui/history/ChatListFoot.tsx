import type { ChatList } from "../../state/history/chat-list.ts";
import { Button } from "../components/Button.tsx";
import { Confirm } from "../components/Confirm.tsx";
import { formatCounted } from "../format.ts";
import { useStore } from "../use-store.ts";
import css from "./Chats.module.css";
import row from "./ChatRow.module.css";

interface ChatListFootProps {
  list: ChatList;
  /** Whether only some of the chats are listed. */
  isFiltered: boolean;
  onDeleted: () => void;
}

/** The number of listed chats, and a button to delete them all. */
export function ChatListFoot({ list, isFiltered, onDeleted }: ChatListFootProps) {
  const { status, found } = useStore(list.store);
  const closed = found.filter(({ pane }) => pane === null);
  const remove = () => {
    list.deleteForGood(closed);
    onDeleted();
  };
  return (
    <div className={css.foot}>
      <Confirm
        question={`Delete ${formatCounted(closed.length, "closed chat")} for good?`}
        className={row.confirm}
        onConfirm={remove}
      >
        {(bin) => (
          <>
            <output>
              {status === "loading"
                ? "Reading …"
                : (isFiltered || found.length > 0) &&
                  `${formatCounted(found.length, "chat")}${isFiltered ? " found" : ""}`}
            </output>
            {closed.length > 1 && (
              <Button {...bin} look="quiet">
                {isFiltered ? "Delete what was found …" : "Delete all closed chats …"}
              </Button>
            )}
          </>
        )}
      </Confirm>
    </div>
  );
}
