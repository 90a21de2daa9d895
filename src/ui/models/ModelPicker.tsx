import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { AppState } from "../../state/app-state.ts";
import type { Command } from "../../state/commands.ts";
import { labelOfChoice } from "../../state/model-choice.ts";
import { Button } from "../Button.tsx";
import { formatBytes } from "../format.ts";
import { Icon } from "../Icon.tsx";
import { useCommands } from "../use-commands.ts";
import { useStore } from "../use-store.ts";
import { AddModel } from "./AddModel.tsx";
import { ModelErrorNote } from "./ModelErrorNote.tsx";
import { ModelFilesDrop } from "./ModelFilesDrop.tsx";
import { ModelList } from "./ModelList.tsx";
import css from "./ModelPicker.module.css";

const REFRESH_MS = 2000;

/** The model's name in the bar, and the dialog it opens: which models there are, what they take, and more of them. */
export function ModelPicker({ app }: { app: AppState }) {
  const { engine, shelf, commands } = app;
  const model = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  const label = useStore(engine.choice, labelOfChoice);
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);

  const open = useCallback(() => {
    void shelf.refresh();
    setOpen(true);
    dialog.current?.showModal();
  }, [shelf]);
  // Another tab may be downloading, or deleting.
  useEffect(() => {
    if (!isOpen) return;
    const timer = setInterval(() => void shelf.refresh(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [isOpen, shelf]);
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
      <dialog
        ref={dialog}
        className={css.dialog}
        aria-label="Models"
        closedby="any"
        onClose={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        {isOpen && (
          <>
            <div className={css.head}>
              <h2>Models</h2>
              <p>
                They are kept in this browser and work offline. Your chats stay as they are when you change the model.
              </p>
              <Button look="icon" aria-label="Close" onClick={close}>
                <Icon name="close" />
              </Button>
            </div>
            <div className={css.body}>
              <ModelErrorNote store={shelf.store} />
              <ModelList app={app} onUsed={close} />
            </div>
            <div className={css.add}>
              <AddModel shelf={shelf} />
              <ModelFilesDrop shelf={shelf} onUsed={close} />
            </div>
          </>
        )}
      </dialog>
    </>
  );
}
