import { useMemo } from "react";
import type { ChatList, ListedChat } from "../../state/history/chat-list.ts";
import { keyLabels } from "../../state/commands/shortcuts.ts";
import { findPassage } from "../../state/history/passage.ts";
import { isMac } from "../actions/Keys.tsx";
import { classNames } from "../class-names.ts";
import { IconButton } from "../components/IconButton.tsx";
import { Confirm } from "../components/Confirm.tsx";
import { VoiceBadge } from "../components/VoiceBadge.tsx";
import { formatCounted } from "../format.ts";
import css from "./ChatRow.module.css";

interface ChatRowProps {
  list: ChatList;
  chat: ListedChat;
  /** Whether a second line shows its answer, or the words that are searched for. */
  hasPreview: boolean;
  /** Whether its pane is the current one. */
  isCurrent: boolean;
  /** The words of the search. */
  words: ReadonlySet<string>;
  onOpen: (chat: ListedChat, isBeside: boolean) => void;
  onDeleted: () => void;
}

/** A chat in the list. A click goes to its pane, or opens it in the current one; with Ctrl, in one of its own. */
export function ChatRow({ list, chat, hasPreview, isCurrent, words, onOpen, onDeleted }: ChatRowProps) {
  const { record, title, preview, dateMs, numTurns, pane } = chat;
  const passage = useMemo(() => (words.size === 0 ? null : findPassage(record.chat, words)), [record, words]);
  const remove = () => {
    list.deleteForGood([chat]);
    onDeleted();
  };
  return (
    <Confirm question={`Delete “${title}” for good?`} isShort={!hasPreview} className={css.confirm} onConfirm={remove}>
      {(bin) => (
        <div className={css.row}>
          <button
            type="button"
            className={css.open}
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
            <span className={css.title}>
              {pane && <VoiceBadge number={pane.number} />}
              <b className="cut" dir="auto">
                {title}
              </b>
              <span className={classNames("small row tight end", css.when)}>
                {numTurns > 0 && `${formatCounted(numTurns, "answer")}, `}
                <time dateTime={new Date(dateMs).toISOString()}>{formatDate(dateMs)}</time>
              </span>
            </span>
            {hasPreview && (
              <span className={classNames("cut small soft", css.preview)} dir="auto">
                {passage ? (
                  <>
                    {passage.before}
                    <mark>{passage.word}</mark>
                    {passage.after}
                  </>
                ) : (
                  preview
                )}
              </span>
            )}
          </button>
          {pane === null && <IconButton icon="trash" {...bin} name={`Delete ${title}`} title="Delete" />}
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
