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
const Connections = lazily(async () => (await import("../connections/Connections.tsx")).Connections);

const VIEWS = ["Models", "Connections"] as const;

/** The model's name in the bar, and the dialog with all models and servers that it opens. */
export function ModelPicker({ app }: { app: AppState }) {
  const { engine, commands } = app;
  const model = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  const label = useStore(engine.choice, labelOfChoice);
  const dialog = useRef<HTMLDialogElement>(null);
  /** Null if it is closed. */
  const [view, setView] = useState<(typeof VIEWS)[number] | null>(null);

  const open = useCallback((chosen: (typeof VIEWS)[number]) => {
    setView(chosen);
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
          run: () => open("Models"),
        },
        {
          id: "connections.open",
          title: "Connections to servers",
          group: "Pages",
          words: "remote server vllm sglang ollama llama openai api key endpoint",
          run: () => open("Connections"),
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
        onClick={() => open("Models")}
      >
        <b>{name}</b> <span>{size}</span>
        <Icon name="chevron" />
      </Button>
      <Dialog ref={dialog} name="Models" className={css.dialog} onClosed={() => setView(null)}>
        {view !== null && (
          <>
            <div className={css.head}>
              <div className={css.views}>
                {VIEWS.map((each) => (
                  <button key={each} type="button" aria-pressed={each === view} onClick={() => setView(each)}>
                    {each}
                  </button>
                ))}
              </div>
              <p>
                {view === "Models"
                  ? "Downloaded models stay in this browser and work offline. Changing the model keeps your chats."
                  : "Servers that can answer single panes, beside the model of this page."}
              </p>
              <CloseButton onClick={close} />
            </div>
            {view === "Models" ? <Models app={app} onUsed={close} /> : <Connections app={app} onUsed={close} />}
          </>
        )}
      </Dialog>
    </>
  );
}
