import { useCallback, useMemo, useRef, useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { Command } from "../../state/commands/commands.ts";
import { labelOfChoice } from "../../state/models/model-choice.ts";
import { Button } from "../components/Button.tsx";
import { CloseButton, Dialog } from "../components/Dialog.tsx";
import { formatBytes } from "../format.ts";
import { Icon } from "../components/Icon.tsx";
import { lazily } from "../components/Lazily.tsx";
import { useCommands } from "../commands/use-commands.ts";
import { useStore } from "../use-store.ts";
import css from "./ModelPicker.module.css";

const Models = lazily(async () => (await import("./Models.tsx")).Models);

/** The model's name in the bar, and the dialog with all models that it opens. */
export function ModelPicker({ app }: { app: AppState }) {
  const { engine, commands } = app;
  const model = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  const label = useStore(engine.choice, labelOfChoice);
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);

  const open = useCallback(() => {
    setOpen(true);
    dialog.current?.showModal();
  }, []);
  useCommands(
    commands,
    useMemo(
      (): readonly Command[] => [
        {
          id: "models.open",
          title: "Choose a model",
          group: "Pages",
          words: "download hub gpt load switch weights dtype delete files",
          run: open,
        },
      ],
      [open],
    ),
  );

  const close = () => dialog.current?.close();
  const name = model?.name ?? label;
  const size = model && `${formatBytes(model.weightBytes)}, ${model.dtype}`;
  return (
    <>
      <Button
        className={css.button}
        aria-label={["Model:", name, size].filter(Boolean).join(" ")}
        aria-haspopup="dialog"
        title={name}
        onClick={open}
      >
        <b>{name}</b> {size && <span>{size}</span>}
        <Icon name="chevron" />
      </Button>
      <Dialog ref={dialog} name="Models" className={css.dialog} onClosed={() => setOpen(false)}>
        {isOpen && (
          <>
            <div className={css.head}>
              <h2>Models</h2>
              <p>Downloaded models stay in this browser and work offline. Changing the model keeps your chats.</p>
              <CloseButton onClick={close} />
            </div>
            <Models app={app} onUsed={close} />
          </>
        )}
      </Dialog>
    </>
  );
}
