import type { KeyboardEvent, Ref } from "react";
import type { ChatQuery } from "../../state/history/chat-list.ts";

interface ChatQueryFormProps {
  /** The box for words. */
  ref: Ref<HTMLInputElement>;
  query: ChatQuery;
  onChange: (change: Partial<ChatQuery>) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** The search for chats: words, and the days between which they were used. */
export function ChatQueryForm({ ref, query, onChange, onKeyDown }: ChatQueryFormProps) {
  return (
    <search className="row flex-wrap gap-x-3 gap-y-2 border-b border-line pt-2 pr-4 pb-3 pl-(--edge) text-ink-3 in-[nav]:border-0 in-[nav]:px-(--edge) in-[nav]:py-2 max-sm:pr-3">
      <input
        ref={ref}
        type="search"
        className="h-9 flex-[1_1_240px] text-ink"
        dir="auto"
        aria-label="Words in the chat"
        placeholder="Words in the chat"
        value={query.text}
        onChange={({ target }) => onChange({ text: target.value })}
        onKeyDown={onKeyDown}
      />
      <label className="row in-[nav]:hidden max-sm:flex-1">
        From{" "}
        <input
          type="date"
          className="h-9 text-ink max-sm:flex-1 max-sm:px-1"
          value={query.from}
          onChange={({ target }) => onChange({ from: target.value })}
        />
      </label>
      <label className="row in-[nav]:hidden max-sm:flex-1">
        to{" "}
        <input
          type="date"
          className="h-9 text-ink max-sm:flex-1 max-sm:px-1"
          value={query.until}
          onChange={({ target }) => onChange({ until: target.value })}
        />
      </label>
    </search>
  );
}
