import { useState, useEffect } from "react";
import { CloseButton, useClose } from "../components/Dialog.tsx";
import { Connections } from "../connections/Connections.tsx";
import { useStore } from "zustand";
import type { LibraryModel } from "../../state/models/model-library.ts";
import { useApp } from "../app/page-context.ts";
import { formatBytes } from "../format.ts";
import { AddModel } from "./AddModel.tsx";
import { ErrorNote } from "./ErrorNote.tsx";
import { ModelFilesDrop } from "./ModelFilesDrop.tsx";
import { ModelRow } from "./ModelRow.tsx";

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

const REFRESH_MS = 2000;

/** The picker's content: the models to choose from, one at a time with its details, and ways to add more. */
function Models() {
  const { library } = useApp();
  const { models, error } = useStore(library.store);
  const [words, setWords] = useState("");
  /** The key of the model that shows its details. */
  const [opened, setOpened] = useState<string | null>(null);
  useEffect(() => {
    void library.refresh();
    // Another tab may download or delete models.
    const timer = setInterval(() => void library.refresh(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [library]);

  const isFound = ({ title, choice }: LibraryModel) =>
    `${title} ${choice.model}`.toLowerCase().includes(words.trim().toLowerCase());
  const toggle = (key: string) => {
    setOpened(opened === key ? null : key);
    if (opened !== key) void library.estimate(key);
  };
  const shown = models.filter((model) => isFound(model) || model.key === opened);
  const storedBytes = models.reduce((sum, { stored }) => sum + (stored?.receivedBytes ?? 0), 0);
  return (
    <>
      <div className="min-h-30 min-w-0 flex-1 overflow-auto overscroll-contain">
        {error && <ErrorNote className="mx-(--edge) my-3" error={error} />}
        <search className="grid px-(--edge) pt-3 pb-2">
          <input
            type="search"
            className="h-9"
            aria-label="Search the models"
            placeholder="Search the models"
            value={words}
            onChange={({ target }) => setWords(target.value)}
          />
        </search>
        <ul aria-label="Models">
          {shown.map((model) => (
            <ModelRow
              key={model.key}
              model={model}
              isOpened={opened === model.key}
              onToggle={() => toggle(model.key)}
              onAdded={setOpened}
            />
          ))}
        </ul>
        <div aria-live="polite">
          {shown.length === 0 && <p className="small px-(--edge) py-3">No model has these words.</p>}
        </div>
        {storedBytes > 0 && (
          <p className="small px-(--edge) py-3">{formatBytes(storedBytes)} of models are kept in this browser.</p>
        )}
      </div>
      <div className="grid flex-none grid-cols-2 gap-6 border-t border-line bg-surface-2 px-(--edge) py-4 max-sm:grid-cols-1">
        <AddModel library={library} onAdded={setOpened} />
        <ModelFilesDrop library={library} />
      </div>
    </>
  );
}
