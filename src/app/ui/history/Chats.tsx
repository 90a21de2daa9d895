import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { useStore } from "zustand";
import type { Pane } from "../../state/chat/pane.ts";
import { groupChats, type ChatLine } from "../../state/history/chat-groups.ts";
import { ChatList, type ListedChat } from "../../state/history/chat-list.ts";
import { wordsOf } from "../../state/history/words.ts";
import { useApp } from "../app/page-context.ts";
import { showPane } from "../chat/pane-links.ts";
import { Button, IconButton } from "../components/Button.tsx";
import { Confirm } from "../components/Confirm.tsx";
import { useClose } from "../components/Dialog.tsx";
import { VirtualList, type VirtualListHandle } from "../components/VirtualList.tsx";
import { formatCounted } from "../format.ts";
import { keyLabels } from "../../state/commands/shortcuts.ts";
import { findPassage } from "../../state/history/passage.ts";
import { isMac } from "../actions/Keys.tsx";
import { PaneBadge } from "../components/PaneBadge.tsx";

const HEADING_PX = 32;
const CHAT_PX = 60;
/** Where only its title is shown. */
const TITLE_PX = 34;
const keyOf = (line: ChatLine) =>
  line.kind === "heading" ? line.title : `${line.chat.pane?.number ?? ""} ${line.chat.record.chat.id}`;
const UNREADABLE = "This browser doesn’t let the page read its stored chats. Only those of this visit are listed.";
const always = () => true;
const hasButton = (line: ChatLine) => line.kind === "chat";

interface ChatsProps {
  /** Returns whether the search gets the focus; called each time that the list comes into view. [yes] */
  takesFocus?: () => boolean;
  /** Whether it has little room. [no] */
  isNarrow?: boolean;
}

/** All chats of this browser: searches, reopens and deletes them. In a dialog, or at the side of a wide window. */
export function Chats({ takesFocus = always, isNarrow = false }: ChatsProps) {
  const app = useApp();
  const close = useClose();
  const { workspace } = app;
  const current = useStore(workspace.store, (state) => state.current);
  const [list] = useState(() => new ChatList(workspace));
  const { status, found, query } = useStore(list.store);
  const lines = useMemo(() => groupChats(found), [found]);
  const words = useMemo(() => wordsOf(query.text), [query.text]);
  const search = useRef<HTMLInputElement>(null);
  const rows = useRef<VirtualListHandle>(null);
  /** Why a chat could not be opened. */
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (takesFocus()) search.current?.focus();
  }, [takesFocus]);
  useEffect(() => {
    const read = () => {
      if (!document.hidden) void list.open();
    };
    read();
    document.addEventListener("visibilitychange", read);
    return () => {
      document.removeEventListener("visibilitychange", read);
      list.close();
    };
  }, [list]);
  useEffect(() => {
    rows.current?.scrollTo(0);
  }, [query]);

  const goTo = (pane: Pane) => {
    // Closing first returns the focus; then the pane's box gets it.
    close();
    showPane(app, pane);
  };
  const open = async (chat: ListedChat, isBeside: boolean) => {
    const opened = chat.pane ?? (await list.openInPane(chat, isBeside));
    setProblem(typeof opened === "string" ? opened : null);
    if (typeof opened !== "string") goTo(opened);
  };
  const toSearch = () => search.current?.focus();
  const remove = (chats: readonly ListedChat[]) => {
    workspace.deleteForGood(chats.map(({ record }) => record));
    toSearch();
  };
  const onSearchKey = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    rows.current?.focus(0);
  };
  const chatPx = isNarrow && words.size === 0 ? TITLE_PX : CHAT_PX;
  const closed = found.filter(({ pane }) => pane === null);
  const isFiltered = query.text.trim() !== "" || query.from !== "" || query.until !== "";
  return (
    <>
      <search className="row flex-wrap gap-x-3 gap-y-2 border-b border-line pt-2 pr-4 pb-3 pl-(--edge) text-ink-3 in-[nav]:border-0 in-[nav]:px-(--edge) in-[nav]:py-2 max-sm:pr-3">
        <input
          ref={search}
          type="search"
          className="h-9 flex-[1_1_240px] text-ink"
          dir="auto"
          aria-label="Words in the chat"
          placeholder="Words in the chat"
          value={query.text}
          onChange={({ target }) => list.search({ text: target.value })}
          onKeyDown={onSearchKey}
        />
        {(["from", "until"] as const).map((end) => (
          <label key={end} className="row in-[nav]:hidden max-sm:flex-1">
            {end === "from" ? "From" : "to"}{" "}
            <input
              type="date"
              className="h-9 text-ink max-sm:flex-1 max-sm:px-1"
              value={query[end]}
              onChange={({ target }) => list.search({ [end]: target.value })}
            />
          </label>
        ))}
      </search>
      {[problem, status === "unreadable" && UNREADABLE].filter(Boolean).map((warning) => (
        <p key={String(warning)} className="callout warn flex-none rounded-none px-(--edge) py-2" role="alert">
          {warning}
        </p>
      ))}
      {found.length === 0 && status !== "loading" && (
        <p className="flex-none px-(--edge) py-4 text-ink-3">
          {isFiltered ? "No chat was found." : "Your chats are kept here, in this browser."}
        </p>
      )}
      <VirtualList
        ref={rows}
        name="Chats"
        lines={lines}
        heightOf={({ kind }) => (kind === "heading" ? HEADING_PX : chatPx)}
        keyOf={keyOf}
        hasButton={hasButton}
        onLeave={toSearch}
      >
        {(line) =>
          line.kind === "heading" ? (
            <h3 className="small self-end px-3 pb-1">{line.title}</h3>
          ) : (
            <ChatRow
              chat={line.chat}
              hasPreview={chatPx === CHAT_PX}
              isCurrent={line.chat.pane?.number === current}
              words={words}
              onOpen={(chat, isBeside) => void open(chat, isBeside)}
              onDelete={() => remove([line.chat])}
            />
          )
        }
      </VirtualList>
      <div className="row min-h-12 justify-between border-t border-line py-1 pr-4 pl-(--edge) text-ink-3 in-[nav]:min-h-8 in-[nav]:border-0 max-sm:pr-3">
        <Confirm
          question={`Delete ${formatCounted(closed.length, "closed chat")} for good?`}
          className="flex-1 px-3"
          onConfirm={() => remove(closed)}
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
    </>
  );
}

interface ChatRowProps {
  chat: ListedChat;
  /** Whether a second line shows its answer, or the words that are searched for. */
  hasPreview: boolean;
  /** Whether its pane is the current one. */
  isCurrent: boolean;
  words: ReadonlySet<string>;
  onOpen: (chat: ListedChat, isBeside: boolean) => void;
  onDelete: () => void;
}

/** A chat in the list. A click goes to its pane, or opens it in the current one; with Ctrl, in one of its own. */
function ChatRow({ chat, hasPreview, isCurrent, words, onOpen, onDelete }: ChatRowProps) {
  const { record, title, preview, dateMs, numTurns, pane } = chat;
  const passage = useMemo(() => (words.size === 0 ? null : findPassage(record.chat, words)), [record, words]);
  return (
    <Confirm
      question={`Delete “${title}” for good?`}
      isShort={!hasPreview}
      className="flex-1 px-3"
      onConfirm={onDelete}
    >
      {(bin) => (
        <div className="row group/row min-h-0 min-w-0 flex-1 gap-0 rounded-md focus-within:bg-surface-2 hover:bg-surface-2 has-aria-[current=true]:bg-surface-2">
          <button
            type="button"
            className="bare grid h-full min-h-0 min-w-0 flex-1 content-center gap-0.5 rounded-md px-3"
            aria-current={isCurrent}
            title={
              pane
                ? undefined
                : `Opens in the current pane; with ${keyLabels("Mod", isMac).join("")}, in one of its own`
            }
            onClick={({ ctrlKey, metaKey }) => onOpen(chat, ctrlKey || metaKey)}
            onKeyDown={(event) => {
              // Browsers press no button for it.
              if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              onOpen(chat, true);
            }}
          >
            <span className="row min-w-0 items-baseline">
              {pane && <PaneBadge number={pane.number} />}
              <b className="min-w-0 truncate font-medium" dir="auto">
                {title}
              </b>
              <span className="small row ms-auto gap-1 in-[nav]:hidden">
                {numTurns > 0 && `${formatCounted(numTurns, "answer")}, `}
                <time dateTime={new Date(dateMs).toISOString()}>{formatDate(dateMs)}</time>
              </span>
            </span>
            {hasPreview && (
              <span className="small min-w-0 truncate text-ink-2" dir="auto">
                {passage ? (
                  <>
                    {passage.before}
                    <mark className="bg-warn-tint text-ink">{passage.word}</mark>
                    {passage.after}
                  </>
                ) : (
                  preview
                )}
              </span>
            )}
          </button>
          {pane === null && (
            <IconButton
              icon="trash"
              className="group-focus-within/row:opacity-100 group-hover/row:opacity-100 in-[nav]:pointer-fine:opacity-0"
              {...bin}
              name={`Delete ${title}`}
              title="Delete"
            />
          )}
        </div>
      )}
    </Confirm>
  );
}

const TIME = new Intl.DateTimeFormat("en-US", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const DAY = new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short" });
const DATE = new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short", year: "numeric" });

/** "14:05", "Nov 12" or "Nov 12, 2025". */
function formatDate(ms: number): string {
  const [date, now] = [new Date(ms), new Date()];
  if (date.toDateString() === now.toDateString()) return TIME.format(date);
  return (date.getFullYear() === now.getFullYear() ? DAY : DATE).format(date);
}
