import type { KeyboardEvent, Ref } from "react";
import type { ChatQuery } from "../../state/history/chat-list.ts";
import css from "./ChatQueryForm.module.css";

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
    <search className={css.form}>
      <input
        ref={ref}
        type="search"
        dir="auto"
        aria-label="Words in the chat"
        placeholder="Words in the chat"
        value={query.text}
        onChange={({ target }) => onChange({ text: target.value })}
        onKeyDown={onKeyDown}
      />
      <label className="row">
        From <input type="date" value={query.from} onChange={({ target }) => onChange({ from: target.value })} />
      </label>
      <label className="row">
        to <input type="date" value={query.until} onChange={({ target }) => onChange({ until: target.value })} />
      </label>
    </search>
  );
}
