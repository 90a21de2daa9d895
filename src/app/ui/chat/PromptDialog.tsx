import { useEffect, useRef } from "react";
import type { PromptView } from "../../state/chat/prompt-view.ts";
import { titleOf } from "../../state/chat/note.ts";
import { Dialog, DialogHead } from "../components/Dialog.tsx";
import { formatCount } from "../format.ts";
import { useStore } from "../use-store.ts";
import { CopyButton } from "./CopyButton.tsx";
import css from "./PromptDialog.module.css";

/** Shows the exact prompt. */
export function PromptDialog({ view }: { view: PromptView }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const state = useStore(view.store);
  const isOpen = state.status !== "closed";
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <Dialog ref={dialog} name="Prompt" className={css.dialog} onClosed={() => view.close()}>
      {isOpen && (
        <>
          <DialogHead title={`Prompt of pane ${state.pane}`} onClose={() => view.close()}>
            {state.prompt && <CopyButton text={state.prompt.text} name="Copy the prompt" />}
          </DialogHead>
          {state.error && (
            <p className={css.hint} role="alert">
              {titleOf(state.error)}: {state.error.message}
            </p>
          )}
          {state.prompt && (
            <>
              <p className={css.hint}>
                Exactly what the model reads for the newest question: {formatCount(state.prompt.tokenIds.length)}{" "}
                tokens. The answer continues from its end.
              </p>
              {/* It scrolls, so it must be focusable. */}
              {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
              <pre className={css.text} tabIndex={0} aria-label="Text of the prompt">
                {state.prompt.text}
              </pre>
            </>
          )}
        </>
      )}
    </Dialog>
  );
}
