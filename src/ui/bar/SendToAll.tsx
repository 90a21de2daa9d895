import { useCallback, useMemo, useRef, useState, type SubmitEvent } from "react";
import type { Command, Commands } from "../../state/commands/commands.ts";
import type { Pane } from "../../state/chat/pane.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";
import { Button } from "../components/Button.tsx";
import { Dialog } from "../components/Dialog.tsx";
import { Icon } from "../components/Icon.tsx";
import { MessageBox } from "../components/MessageBox.tsx";
import { useCommands } from "../commands/use-commands.ts";
import { useStore } from "../use-store.ts";
import { VoiceBadge } from "../components/VoiceBadge.tsx";
import css from "./SendToAll.module.css";

interface SendToAllProps {
  workspace: Workspace;
  commands: Commands;
  isDisabled: boolean;
}

/** A button and its dialog that send one message to several panes. */
export function SendToAll({ workspace, commands, isDisabled }: SendToAllProps) {
  const opener = useRef<HTMLButtonElement>(null);
  const panes = useStore(workspace.store, (state) => state.panes);
  const dialog = useRef<HTMLDialogElement>(null);
  const [message, setMessage] = useState("");
  /** Unticked panes; a pane that is opened later starts ticked. */
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  /** The panes that had a draft of their own when the dialog was opened. */
  const [drafting, setDrafting] = useState<readonly Pane[]>([]);

  const send = () => {
    const askedPanes = panes.filter((pane) => !left.has(pane.number) && pane.send(message));
    if (askedPanes.length === 0) return;
    setMessage("");
    dialog.current?.close();
  };
  const sendDrafts = () => {
    for (const pane of drafting) pane.sendDraft();
    dialog.current?.close();
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

  const open = useCallback(() => {
    if (!opener.current) return;
    setLeft(new Set());
    setDrafting(draftingPanes(workspace));
    // Below its button.
    const right = Math.max(8, innerWidth - opener.current.getBoundingClientRect().right);
    dialog.current?.style.setProperty("--right", `${right}px`);
    dialog.current?.showModal();
  }, [workspace]);
  useCommands(
    commands,
    useMemo(
      (): readonly Command[] => [
        {
          id: "panes.send",
          title: "Send to all",
          group: "Chats",
          keys: "Alt+A",
          words: "message every pane ask broadcast",
          isEnabled: () => !isDisabled,
          run: open,
        },
        {
          id: "panes.drafts",
          title: "Send every pane's own draft",
          group: "Chats",
          words: "all messages together at once",
          isEnabled: () => !isDisabled && draftingPanes(workspace).length > 0,
          run: () => {
            for (const pane of draftingPanes(workspace)) pane.sendDraft();
          },
        },
      ],
      [open, isDisabled, workspace],
    ),
  );

  return (
    <>
      <Button
        ref={opener}
        className={css.open}
        aria-haspopup="dialog"
        aria-label="Send to all"
        disabled={isDisabled}
        onClick={open}
      >
        <Icon name="all" />
        <span>Send to all</span>
      </Button>
      <Dialog ref={dialog} name="Send to all" className={css.sheet}>
        <form className={css.form} onSubmit={submit}>
          <MessageBox value={message} onChange={setMessage} onEnter={send} className={css.message} />
          <fieldset className={css.panes}>
            <legend>Panes</legend>
            {panes.map((pane) => (
              <PaneCheckbox key={pane.number} pane={pane} isTicked={!left.has(pane.number)} onToggle={toggle} />
            ))}
          </fieldset>
          <div className={css.foot}>
            {drafting.length > 0 && (
              <Button look="quiet" className={css.drafts} onClick={sendDrafts}>
                {drafting.length === 1
                  ? `Send pane ${drafting[0]?.number}'s draft`
                  : `Send ${drafting.length} panes' drafts`}
              </Button>
            )}
            <Button look="quiet" onClick={() => dialog.current?.close()}>
              Cancel
            </Button>
            <Button look="ink" type="submit">
              <Icon name="up" />
              Send
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}

function draftingPanes(workspace: Workspace): readonly Pane[] {
  return workspace.store.getState().panes.filter((pane) => {
    const { draft, phase } = pane.store.getState();
    return phase === "idle" && draft.trim() !== "";
  });
}

interface PaneCheckboxProps {
  pane: Pane;
  isTicked: boolean;
  onToggle: (pane: Pane) => void;
}

/** A busy pane can't be asked. */
function PaneCheckbox({ pane, isTicked, onToggle }: PaneCheckboxProps) {
  const isBusy = useStore(pane.store, (state) => state.phase !== "idle");
  return (
    <label className={css.pane} title={isBusy ? "Still answering" : undefined}>
      <input
        type="checkbox"
        aria-label={`Pane ${pane.number}${isBusy ? ", still answering" : ""}`}
        checked={isTicked && !isBusy}
        disabled={isBusy}
        onChange={() => onToggle(pane)}
      />
      <VoiceBadge number={pane.number} />
    </label>
  );
}
