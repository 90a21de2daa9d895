import { useLayoutEffect, useRef, useState, type FocusEvent, type SubmitEvent } from "react";
import { useStore } from "zustand";
import type { Pane } from "../../state/chat/pane.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";
import { Button } from "../components/Button.tsx";
import { Guard } from "../components/Guard.tsx";
import { focusOnOpening } from "../components/Menu.tsx";
import { MessageBox } from "../components/MessageBox.tsx";
import { PaneBadge } from "../components/PaneBadge.tsx";

export const SEND_TO_ALL_ID = "send-to-all";

/**
 * A button and its sheet that send one message to several panes. The sheet is a popover. A modal dialog makes all else inert:
 * the browser then computes the style of every element of the page when it opens, and again when it closes.
 */
export function SendToAll({ workspace }: { workspace: Workspace }) {
  const opener = useRef<HTMLButtonElement>(null);
  const sheet = useRef<HTMLDialogElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const panes = useStore(workspace.store, (state) => state.panes);
  const [message, setMessage] = useState("");
  /** Unticked panes; a pane that is opened later starts ticked. */
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  /** The panes that had a draft of their own when the sheet was opened; another list at each opening. */
  const [drafting, setDrafting] = useState<readonly Pane[]>([]);

  const close = () => sheet.current?.hidePopover();
  const send = () => {
    const requestedPanes = panes.filter((pane) => !left.has(pane.number) && pane.send(message));
    if (requestedPanes.length === 0) return;
    setMessage("");
    close();
  };
  const sendDrafts = () => {
    for (const pane of drafting) pane.sendDraft();
    close();
  };
  /** The button closes it by itself. */
  const leave = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (relatedTarget && relatedTarget !== opener.current && !currentTarget.contains(relatedTarget)) close();
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    send();
  };
  const toggle = (pane: Pane) => {
    const next = new Set(left);
    if (!next.delete(pane.number)) next.add(pane.number);
    setLeft(next);
  };

  const prepare = () => {
    if (!opener.current) return;
    setLeft(new Set());
    setDrafting(draftingPanes(panes));
    // Below its button.
    const right = Math.max(8, innerWidth - opener.current.getBoundingClientRect().right);
    sheet.current?.style.setProperty("--right", `${right}px`);
  };
  useLayoutEffect(() => {
    focusOnOpening(box.current);
  }, []);

  return (
    <>
      <Button
        ref={opener}
        icon="all"
        className="max-sm:w-(--icon-h) max-sm:border-transparent max-sm:bg-transparent max-sm:p-0 max-sm:text-ink-3"
        aria-haspopup="dialog"
        aria-label="Send to all"
        popoverTarget={SEND_TO_ALL_ID}
      >
        <span className="max-lg:hidden">Send to all</span>
      </Button>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <dialog
        ref={sheet}
        id={SEND_TO_ALL_ID}
        popover="auto"
        aria-label="Send to all"
        className="box fixed top-[calc(var(--bar-h)_-_4px)] right-[var(--right,16px)] h-fit max-h-[calc(100dvh_-_var(--bar-h))] w-[min(400px,calc(100vw_-_16px))] overflow-auto p-4 text-inherit shadow-2 max-sm:right-2 max-sm:w-[calc(100vw_-_16px)]"
        onKeyDown={(event) => event.key === "Escape" && event.stopPropagation()} // else it would stop the pane's answer too
        onBeforeToggle={({ newState }) => newState === "open" && prepare()}
        onBlur={leave}
      >
        <Guard part="This dialog" subject={drafting} onClose={close}>
          <form className="stack" onSubmit={submit}>
            <MessageBox box={box} value={message} onChange={setMessage} onEnter={send} />
            <fieldset className="flex flex-wrap gap-1.5">
              <legend className="pb-1 t-12 font-medium text-ink-2">Panes</legend>
              {panes.map((pane) => (
                <PaneCheckbox key={pane.number} pane={pane} isTicked={!left.has(pane.number)} onToggle={toggle} />
              ))}
              {panes.length > 1 && (
                <Button
                  look="quiet"
                  onClick={() => setLeft(new Set(left.size > 0 ? [] : panes.map(({ number }) => number)))}
                >
                  {left.size > 0 ? "All" : "None"}
                </Button>
              )}
            </fieldset>
            <div className="row">
              {drafting.length > 0 && (
                <Button look="quiet" onClick={sendDrafts}>
                  {drafting.length === 1
                    ? `Send pane ${drafting[0]?.number}'s draft`
                    : `Send ${drafting.length} panes' drafts`}
                </Button>
              )}
              <Button look="quiet" className="ms-auto" onClick={close}>
                Cancel
              </Button>
              <Button icon="up" look="ink" type="submit">
                Send
              </Button>
            </div>
          </form>
        </Guard>
      </dialog>
    </>
  );
}

export function draftingPanes(panes: readonly Pane[]): readonly Pane[] {
  return panes.filter((pane) => {
    const { draft, phase } = pane.store.getState();
    return phase === "idle" && draft.trim() !== "";
  });
}

/** A busy pane can't be asked. */
function PaneCheckbox({ pane, isTicked, onToggle }: { pane: Pane; isTicked: boolean; onToggle: (pane: Pane) => void }) {
  const isBusy = useStore(pane.store, (state) => state.phase !== "idle");
  return (
    <label
      className="row h-(--control-h) cursor-pointer gap-1.5 rounded-md border border-line-strong px-2 has-disabled:cursor-default has-disabled:opacity-50"
      title={isBusy ? "Still answering" : undefined}
    >
      <input
        type="checkbox"
        aria-label={`Pane ${pane.number}${isBusy ? ", still answering" : ""}`}
        checked={isTicked && !isBusy}
        disabled={isBusy}
        onChange={() => onToggle(pane)}
      />
      <PaneBadge number={pane.number} />
    </label>
  );
}
