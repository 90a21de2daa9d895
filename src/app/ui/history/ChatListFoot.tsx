import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { ChatList } from "../../state/history/chat-list.ts";
import { Button } from "../components/Button.tsx";
import { formatCount } from "../format.ts";
import { useStore } from "../use-store.ts";
import css from "./ChatListDialog.module.css";
import { ConfirmDelete } from "./ConfirmDelete.tsx";

interface ChatListFootProps {
  list: ChatList;
  /** Whether only some of the chats are listed. */
  isFiltered: boolean;
  onDeleted: () => void;
}

const chats = (num: number, kind = "") => `${formatCount(num)} ${kind}${num === 1 ? "chat" : "chats"}`;

/** The number of listed chats, and a button to delete them all. */
export function ChatListFoot({ list, isFiltered, onDeleted }: ChatListFootProps) {
  const { status, found } = useStore(list.store, (state) => state);
  const [isConfirming, setConfirming] = useState(false);
  const bin = useRef<HTMLButtonElement>(null);
  const keep = () => {
    flushSync(() => setConfirming(false));
    bin.current?.focus();
  };
  const closed = found.filter(({ pane }) => pane === null);
  if (isConfirming) {
    const remove = () => {
      list.deleteForGood(closed.map(({ key }) => key));
      setConfirming(false);
      onDeleted();
    };
    return (
      <div className={css.foot}>
        <ConfirmDelete
          question={`Delete ${chats(closed.length, "closed ")} for good?`}
          onDelete={remove}
          onKeep={keep}
        />
      </div>
    );
  }
  return (
    <div className={css.foot}>
      <output>{status === "loading" ? "Reading …" : `${chats(found.length)}${isFiltered ? " found" : ""}`}</output>
      {closed.length > 1 && (
        <Button ref={bin} look="quiet" onClick={() => setConfirming(true)}>
          {isFiltered ? "Delete what was found …" : "Delete all closed chats …"}
        </Button>
      )}
    </div>
  );
}
