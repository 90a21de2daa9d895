import { useId, useLayoutEffect, useRef, useState, type SubmitEvent } from "react";
import type { Pane } from "../../state/chat/pane.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { lazily } from "../components/Lazily.tsx";
import { MessageBox } from "../components/MessageBox.tsx";
import { useStore } from "../use-store.ts";
import css from "./Composer.module.css";

const ContextMeter = lazily(async () => (await import("./ContextMeter.tsx")).ContextMeter);

const formIdOf = (pane: Pane) => `composer-${pane.number}`;

const boxOf = (pane: Pane) => document.querySelector<HTMLTextAreaElement>(`#${formIdOf(pane)} textarea`);

export function focusMessageOf(pane: Pane): void {
  boxOf(pane)?.focus();
}

export function showEndOfMessage(pane: Pane): void {
  const box = boxOf(pane);
  box?.scrollTo(0, box.scrollHeight);
}

interface ComposerProps {
  pane: Pane;
  isCurrent: boolean;
}

/** The box for a question, and below it its share of the context. Stop replaces Send while the pane is busy. */
export function Composer({ pane, isCurrent }: ComposerProps) {
  const { continuesText: isText, answerer } = useStore(pane.asking);
  const draft = useStore(pane.store, (state) => state.draft);
  const isBusy = useStore(pane.store, (state) => state.phase !== "idle");
  const box = useRef<HTMLTextAreaElement>(null);
  const meterId = useId();
  /** Whether Enter was pressed while an answer still grows. */
  const [isEarly, setEarly] = useState(false);

  // A new pane gets the focus; of many that open at once, or come back with the page, the current one. These are layout effects,
  // so that it happens before anybody can focus something else: later ones would take the focus away from that.
  const isNowCurrent = useRef(isCurrent);
  useLayoutEffect(() => {
    isNowCurrent.current = isCurrent;
  }, [isCurrent]);
  useLayoutEffect(() => {
    if (isNowCurrent.current) box.current?.focus();
  }, []);
  if (isEarly && !isBusy) setEarly(false);

  // The button that had the focus is replaced, so the box gets it.
  const keepFocus = () => box.current?.focus();
  const send = () => {
    if (isBusy) setEarly(true);
    else pane.sendDraft();
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    send();
    keepFocus();
  };
  const stop = () => {
    pane.stop();
    keepFocus();
  };
  return (
    <>
      <form id={formIdOf(pane)} className={css.composer} onSubmit={submit}>
        <MessageBox
          box={box}
          className={css.box}
          placeholder={isText ? "Continue this text" : `Message to ${answerer}`}
          describedBy={meterId}
          value={draft}
          onChange={(value) => pane.setDraft(value)}
          onEnter={send}
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
      {/* Its place is reserved before it has words. */}
      <div id={meterId} className={css.meter}>
        {isEarly ? (
          <output>Still answering: this can be sent after it. Escape stops it.</output>
        ) : (
          <ContextMeter pane={pane} />
        )}
      </div>
    </>
  );
}
