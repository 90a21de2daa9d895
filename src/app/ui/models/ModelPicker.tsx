import { useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { CloseButton } from "../components/Dialog.tsx";
import { Connections } from "../connections/Connections.tsx";
import css from "./ModelPicker.module.css";
import { Models } from "./Models.tsx";

const VIEWS = ["Models", "Connections"] as const;

interface ModelPickerProps {
  app: AppState;
  /** The view to begin with. */
  first: (typeof VIEWS)[number];
  onClose: () => void;
}

/** All models and servers. */
export function ModelPicker({ app, first, onClose }: ModelPickerProps) {
  const [view, setView] = useState(first);
  return (
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
        <CloseButton onClick={onClose} />
      </div>
      {view === "Models" ? <Models app={app} onUsed={onClose} /> : <Connections app={app} onUsed={onClose} />}
    </>
  );
}
