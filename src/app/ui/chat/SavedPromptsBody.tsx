import { useState } from "react";
import type { Pane } from "../../state/chat/pane.ts";
import { SavedPrompts } from "../../state/chat/saved-prompts.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import css from "./SavedPromptsBody.module.css";

interface SavedPromptsBodyProps {
  pane: Pane;
  onDone: () => void;
}

/** The saved prompts: one becomes the draft, and the draft becomes one. */
export function SavedPromptsBody({ pane, onDone }: SavedPromptsBodyProps) {
  const [prompts] = useState(() => new SavedPrompts());
  const saved = useStore(prompts.store, (state) => state);
  const draft = useStore(pane.store, (state) => state.draft.trim());
  const isSaved = saved.includes(draft);
  const insert = (text: string) => {
    // The written text is not lost: the prompt goes before it.
    pane.setDraft([text, draft === text ? "" : draft].filter(Boolean).join("\n"));
    onDone();
  };
  return (
    <div className={css.prompts}>
      {draft !== "" && (
        <div className={css.draft}>
          <p dir="auto">{draft}</p>
          <Button disabled={isSaved} onClick={() => prompts.add(draft)}>
            {isSaved ? "Saved" : "Save this draft"}
          </Button>
        </div>
      )}
      {saved.length === 0 && (
        <p className={css.none}>
          Write a message, then save it here to use it in any chat. Prompts stay in this browser.
        </p>
      )}
      <ul aria-label="Saved prompts">
        {saved.map((text) => (
          <li key={text}>
            <button type="button" className={css.insert} dir="auto" title={text} onClick={() => insert(text)}>
              {text}
            </button>
            <Button
              look="icon"
              aria-label={`Delete: ${text.slice(0, 60)}`}
              title="Delete"
              onClick={() => prompts.remove(text)}
            >
              <Icon name="trash" />
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
