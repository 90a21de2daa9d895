import { useState } from "react";
import { CloseButton, useClose } from "../components/Dialog.tsx";
import { Connections } from "../connections/Connections.tsx";
import { Models } from "./Models.tsx";

const VIEWS = ["Models", "Connections"] as const;

export function ModelPicker({ first }: { first: (typeof VIEWS)[number] }) {
  const [view, setView] = useState(first);
  return (
    <>
      <div className="grid flex-none grid-cols-[minmax(0,1fr)_auto] items-start border-b border-line pt-5 pr-4 pb-3 pl-(--edge) max-sm:py-3 max-sm:pr-2 max-sm:pl-4">
        <div className="flex gap-5">
          {VIEWS.map((each) => (
            <button
              key={each}
              type="button"
              className="border-0 border-b-2 border-transparent bg-transparent p-0 t-20 text-ink-3 aria-pressed:border-ink aria-pressed:text-ink"
              aria-pressed={each === view}
              onClick={() => setView(each)}
            >
              {each}
            </button>
          ))}
        </div>
        <p className="text-ink-2 [grid-area:2/1/3/3]">
          {view === "Models"
            ? "Downloaded models stay in this browser and work offline. Changing the model keeps your chats."
            : "Servers that can answer single panes, beside the model of this page."}
        </p>
        <CloseButton onClick={useClose()} />
      </div>
      {view === "Models" ? <Models /> : <Connections />}
    </>
  );
}
