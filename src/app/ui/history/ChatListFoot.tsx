import type { ChatList } from "../../state/history/chat-list.ts";
import { Button } from "../components/Button.tsx";
import { Confirm } from "../components/Confirm.tsx";
import { formatCounted } from "../format.ts";
import { useStore } from "../use-store.ts";

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
    <div className="row min-h-12 justify-between border-t border-line py-1 pr-4 pl-(--edge) text-ink-3 in-[nav]:min-h-8 in-[nav]:border-0 max-sm:pr-3">
      <Confirm
        question={`Delete ${formatCounted(closed.length, "closed chat")} for good?`}
        className="flex-1 px-3"
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
              <Button {...bin} look="quiet" className="in-[nav]:hidden">
                {isFiltered ? "Delete what was found …" : "Delete all closed chats …"}
              </Button>
            )}
          </>
        )}
      </Confirm>
    </div>
  );
}
