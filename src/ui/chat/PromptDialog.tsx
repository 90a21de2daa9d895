import { useEffect, useRef, type SyntheticEvent } from "react";
import type { PromptView } from "../../state/chat/prompt-view.ts";
import { titleOf } from "../../state/chat/note.ts";
import { Button } from "../components/Button.tsx";
import { formatCount } from "../format.ts";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import { CopyButton } from "./CopyButton.tsx";
import css from "./PromptDialog.module.css";

/** What the model reads, to the letter. */
export function PromptDialog({ view }: { view: PromptView }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const state = useStore(view.store, (current) => current);
  const isOpen = state.status !== "closed";
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  const onClose = ({ currentTarget }: SyntheticEvent<HTMLDialogElement>) => {
    // The event comes late: by then another prompt may be shown.
    if (!currentTarget.open) view.close();
  };
  return (
    <dialog ref={dialog} className={css.dialog} aria-label="Prompt" closedby="any" onClose={onClose}>
      {isOpen && (
        <>
          <div className={css.head}>
            <h2>Prompt of pane {state.pane}</h2>
            {state.prompt && <CopyButton text={state.prompt.text} name="Copy the prompt" />}
            <Button look="icon" aria-label="Close" onClick={() => view.close()}>
              <Icon name="close" />
            </Button>
          </div>
          {state.error && (
            <p className={css.hint} role="alert">
              {titleOf(state.error)}: {state.error.message}
            </p>
          )}
          {state.prompt && (
            <>
              <p className={css.hint}>
                What the model reads for the newest question, in its own form:{" "}
                {formatCount(state.prompt.tokenIds.length)} tokens. The answer goes on from its end.
              </p>
              {/* It scrolls, so keys must reach it. */}
              {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
              <pre className={css.text} tabIndex={0} aria-label="Text of the prompt">
                {state.prompt.text}
              </pre>
            </>
          )}
        </>
      )}
    </dialog>
  );
}
