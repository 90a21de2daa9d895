import { useCallback, useMemo, useRef, useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import type { Command } from "../../state/commands/commands.ts";
import { useCommands } from "../commands/use-commands.ts";
import { CloseButton, Dialog } from "../components/Dialog.tsx";
import { lazily } from "../components/Lazily.tsx";
import sheet from "../components/Sheet.module.css";
import { focusMessageOf } from "./Composer.tsx";

const SavedPromptsBody = lazily(async () => (await import("./SavedPromptsBody.tsx")).SavedPromptsBody);

/** The saved prompts, for the chat that has the focus. The palette opens it. */
export function SavedPromptsDialog({ app }: { app: AppState }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [pane, setPane] = useState<Pane | null>(null);
  const open = useCallback(() => {
    const { panes, current } = app.workspace.store.getState();
    setPane(panes.find(({ number }) => number === current) ?? null);
    dialog.current?.showModal();
  }, [app]);
  useCommands(
    app.commands,
    useMemo(
      (): readonly Command[] => [
        {
          id: "prompts.open",
          title: "Saved prompts",
          group: "Chats",
          keys: "Alt+S",
          words: "save draft insert template library snippets",
          run: open,
        },
      ],
      [open],
    ),
  );
  return (
    <Dialog ref={dialog} name="Saved prompts" onClosed={() => setPane(null)}>
      {pane && (
        <>
          <div className={sheet.head}>
            <h2>Saved prompts</h2>
            <CloseButton onClick={() => dialog.current?.close()} />
          </div>
          <div className={sheet.body} style={{ width: "min(560px, calc(100vw - 48px))" }}>
            <SavedPromptsBody
              pane={pane}
              onDone={() => {
                dialog.current?.close();
                focusMessageOf(pane);
              }}
            />
          </div>
        </>
      )}
    </Dialog>
  );
}
