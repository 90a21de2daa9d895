import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { flushSync } from "react-dom";
import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { groupChats, type ChatLine } from "../../state/history/chat-groups.ts";
import { ChatList, type ListedChat } from "../../state/history/chat-list.ts";
import { wordsOf } from "../../state/history/words.ts";
import { focusMessageOf } from "../chat/Composer.tsx";
import { VirtualList, type VirtualListHandle } from "../components/VirtualList.tsx";
import { useStore } from "../use-store.ts";
import css from "./Chats.module.css";
import { ChatListFoot } from "./ChatListFoot.tsx";
import { ChatQueryForm } from "./ChatQueryForm.tsx";
import { ChatRow } from "./ChatRow.tsx";

const HEADING_PX = 32;
const CHAT_PX = 60;
const heightOf = (line: ChatLine) => (line.kind === "heading" ? HEADING_PX : CHAT_PX);
const keyOf = (line: ChatLine) =>
  line.kind === "heading" ? line.title : `${line.chat.pane?.number ?? ""} ${line.chat.record.chat.id}`;
const hasButton = (line: ChatLine) => line.kind === "chat";

/** All chats of this browser: searches, reopens and deletes them. */
export function Chats({ app, onClose }: { app: AppState; onClose: () => void }) {
  const { workspace, batch } = app;
  const [list] = useState(() => new ChatList(workspace));
  const { status, found, query } = useStore(list.store);
  const [openedMs] = useState(() => Date.now());
  const lines = useMemo(() => groupChats(found, openedMs), [found, openedMs]);
  const words = useMemo(() => wordsOf(query.text), [query.text]);
  const search = useRef<HTMLInputElement>(null);
  const rows = useRef<VirtualListHandle>(null);
  /** Why a chat could not be opened. */
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    search.current?.focus();
    void list.open();
    return () => list.close();
  }, [list]);
  useEffect(() => {
    rows.current?.scrollTo(0);
  }, [query]);

  const goTo = (pane: Pane) => {
    // Closing first returns the focus; then the pane's box gets it.
    onClose();
    flushSync(() => {
      workspace.select(pane.number);
      batch.dock.show(false);
    });
    focusMessageOf(pane);
  };
  const open = async (chat: ListedChat) => {
    const opened = chat.pane ?? (await list.openInPane(chat));
    if (typeof opened === "string") setProblem(opened);
    else goTo(opened);
  };
  const toSearch = () => search.current?.focus();
  const onSearchKey = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    rows.current?.focus(0);
  };
  const isFiltered = query.text.trim() !== "" || query.from !== "" || query.until !== "";
  return (
    <>
      <ChatQueryForm ref={search} query={query} onChange={(change) => list.look(change)} onKeyDown={onSearchKey} />
      {problem && (
        <p className={css.problem} role="alert">
          {problem}
        </p>
      )}
      {status === "unreadable" && (
        <p className={css.problem} role="alert">
          This browser doesn&rsquo;t let the page read its stored chats. Only those of this visit are listed.
        </p>
      )}
      {found.length === 0 && status !== "loading" && (
        <p className={css.none}>{isFiltered ? "No chat was found." : "Chats whose pane you close are kept here."}</p>
      )}
      <VirtualList
        ref={rows}
        name="Chats"
        lines={lines}
        heightOf={heightOf}
        keyOf={keyOf}
        hasButton={hasButton}
        onLeave={toSearch}
      >
        {(line) =>
          line.kind === "heading" ? (
            <h3 className={css.heading}>{line.title}</h3>
          ) : (
            <ChatRow
              list={list}
              chat={line.chat}
              words={words}
              onOpen={(chat) => void open(chat)}
              onDeleted={toSearch}
            />
          )
        }
      </VirtualList>
      <ChatListFoot list={list} isFiltered={isFiltered} onDeleted={toSearch} />
    </>
  );
}
