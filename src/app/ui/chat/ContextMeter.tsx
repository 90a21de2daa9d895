import { useEffect } from "react";
import { useStore } from "zustand";
import type { ContextUse } from "../../state/chat/context-cut.ts";
import { meterContext } from "../../state/chat/context-meter.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { classNames } from "../class-names.ts";
import { formatCount, formatCounted } from "../format.ts";

/** How much of the model's context the next question takes, and which turns it leaves no room for; of a server, where it goes. */
export function ContextMeter({ pane }: { pane: Pane }) {
  useEffect(() => {
    return meterContext(pane);
  }, [pane]);
  const use = useStore(pane.contextUse);
  const sent = useStore(pane.store, (state) => state.contextStart);
  const { isRemote, answerer } = useStore(pane.asking);
  const length = useStore(pane.store, (state) => state.draft.trim().length);
  if (isRemote && length > 0) return <span>{`Goes to ${answerer}, ${formatCounted(length, "character")}`}</span>;
  if (use === null) return null;
  const { promptTokens, contextTokens } = use;
  const share = Math.min(1, (promptTokens ?? 0) / contextTokens);
  const isFull = promptTokens !== null && promptTokens >= contextTokens;
  return (
    <>
      <span className={classNames("min-h-0 min-w-0 flex-1", isFull && "text-bad")}>{wordsOf(use, sent)}</span>
      <span
        className="h-1 w-16 flex-none overflow-hidden rounded-[3px] bg-surface-3"
        aria-hidden="true"
        hidden={promptTokens === null}
      >
        <i
          className={classNames("block h-full", isFull ? "bg-bad" : "bg-ink-3")}
          style={{ width: `${100 * share}%` }}
        />
      </span>
    </>
  );
}

/** @param sent turns before this one are no longer sent already */
function wordsOf({ draftTokens, promptTokens, contextTokens, contextStart }: ContextUse, sent: number): string {
  const draft = draftTokens === 0 ? "" : formatCounted(draftTokens, "token");
  if (promptTokens === null) return draft;
  const context = formatCount(contextTokens);
  if (draftTokens >= contextTokens) return `${draft}: the model reads ${context}, answer included`;
  const all = `${formatCount(promptTokens)} of ${context}${draft === "" ? " tokens" : " sent"}`;
  const left = contextStart > sent ? `; ${leftOut(contextStart - sent, sent > 0)} left out` : "";
  return `${draft === "" ? "" : `${draft}, `}${all}${left}`;
}

function leftOut(count: number, areMore: boolean): string {
  if (areMore) return count === 1 ? "one more turn" : formatCounted(count, "more turn");
  return count === 1 ? "the oldest turn" : `the ${formatCounted(count, "oldest turn")}`;
}
