import { useId, useLayoutEffect, useRef, useState, type SubmitEvent } from "react";
import { useStore } from "zustand";
import type { Pane } from "../../state/chat/pane.ts";
import { Button } from "../components/Button.tsx";
import { lazyComponent } from "../components/LazyComponent.tsx";
import { MessageBox } from "../components/MessageBox.tsx";

const ContextMeter = lazyComponent(async () => (await import("./ContextMeter.tsx")).ContextMeter);

const formIdOf = (pane: Pane) => `composer-${pane.number}`;

const boxOf = (pane: Pane) => document.querySelector<HTMLTextAreaElement>(`#${formIdOf(pane)} textarea`);

export function focusMessageOf(pane: Pane): void {
  boxOf(pane)?.focus();
}

export function showEndOfMessage(pane: Pane): void {
  const box = boxOf(pane);
  box?.scrollTo(0, box.scrollHeight);
}

/** The box for a question, and below it its share of the context. Stop replaces Send while the pane is busy. */
export function Composer({ pane, isCurrent }: { pane: Pane; isCurrent: boolean }) {
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
      <form
        id={formIdOf(pane)}
        className="mx-[max(12px,calc((100%_-_608px)/2))] mb-1 flex flex-none items-end gap-1.5 rounded-lg border border-control bg-surface p-0.75 has-[textarea:focus-visible]:border-transparent has-[textarea:focus-visible]:outline-2 has-[textarea:focus-visible]:outline-focus"
        onSubmit={submit}
      >
        <MessageBox
          box={box}
          // Where focus scrolls it into view, the pane's lower edge comes with it.
          className="scroll-mb-7 border-0 bg-transparent outline-none"
          placeholder={isText ? "Continue this text" : `Message to ${answerer}`}
          describedBy={meterId}
          value={draft}
          onChange={(value) => pane.setDraft(value)}
          onEnter={send}
        />
        {isBusy ? (
          <Button key="stop" icon="stop" className="w-19 p-0 max-sm:h-10" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button key="send" icon="up" look="ink" type="submit" className="w-19 p-0 max-sm:h-10">
            Send
          </Button>
        )}
      </form>
      {/* Its place is reserved before it has words. */}
      <div id={meterId} className="row mx-[max(16px,calc((100%_-_600px)/2))] mb-1 min-h-4 t-11 font-normal text-ink-3">
        {isEarly ? (
          <output>Still answering: this can be sent after it. Escape stops it.</output>
        ) : (
          <ContextMeter pane={pane} />
        )}
      </div>
    </>
  );
}
