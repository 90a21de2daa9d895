import { useEffect, useRef, type SubmitEvent } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { MessageBox } from "../components/MessageBox.tsx";
import { useStore } from "../use-store.ts";
import { useContinuesText } from "./use-continues-text.ts";
import css from "./Composer.module.css";

const formIdOf = (pane: Pane) => `composer-${pane.number}`;

export function focusMessageOf(pane: Pane): void {
  document.querySelector<HTMLElement>(`#${formIdOf(pane)} textarea`)?.focus();
}

/** The box for a question. Stop replaces Send while the pane is busy. */
export function Composer({ app, pane, isCurrent }: { app: AppState; pane: Pane; isCurrent: boolean }) {
  const isText = useContinuesText(app, pane);
  const draft = useStore(pane.store, (state) => state.draft);
  const isBusy = useStore(pane.store, (state) => state.phase !== "idle");
  const box = useRef<HTMLTextAreaElement>(null);

  // A new pane gets the focus. If many open at once, only the current one does.
  const isOpenedCurrent = useRef(isCurrent);
  useEffect(() => {
    if (isOpenedCurrent.current) box.current?.focus();
  }, []);

  // The button that had the focus is replaced, so the box gets it.
  const keepFocus = () => box.current?.focus();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    pane.sendDraft();
    keepFocus();
  };
  const stop = () => {
    pane.stop();
    keepFocus();
  };
  return (
    <form id={formIdOf(pane)} className={css.composer} onSubmit={submit}>
      <MessageBox
        box={box}
        className={css.box}
        placeholder={isText ? "Continue this text" : "Message"}
        value={draft}
        onChange={(value) => pane.setDraft(value)}
        onEnter={() => pane.sendDraft()}
      />
      {isBusy ? (
        <Button key="stop" className={css.action} onClick={stop}>
          <Icon name="stop" />
          Stop
        </Button>
      ) : (
        <Button key="send" look="ink" type="submit" className={css.action}>
          <Icon name="up" />
          Send
        </Button>
      )}
    </form>
  );
}
