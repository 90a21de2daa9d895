import { useMemo } from "react";
import type { ListedChat } from "../../state/history/chat-list.ts";
import { keyLabels } from "../../state/commands/shortcuts.ts";
import { findPassage } from "../../state/history/passage.ts";
import { isMac } from "../actions/Keys.tsx";
import { IconButton } from "../components/Button.tsx";
import { Confirm } from "../components/Confirm.tsx";
import { PaneBadge } from "../components/PaneBadge.tsx";
import { formatCounted } from "../format.ts";

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
export function ChatRow({ chat, hasPreview, isCurrent, words, onOpen, onDelete }: ChatRowProps) {
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
