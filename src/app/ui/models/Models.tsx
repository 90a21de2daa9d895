import { useEffect, useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { ShelfModel } from "../../state/models/model-shelf.ts";
import { formatBytes } from "../format.ts";
import { useStore } from "../use-store.ts";
import { AddModel } from "./AddModel.tsx";
import { ModelErrorNote } from "./ModelErrorNote.tsx";
import { ModelFilesDrop } from "./ModelFilesDrop.tsx";
import { ModelRow } from "./ModelRow.tsx";

const REFRESH_MS = 2000;

/** The picker's content: the models to choose from, one at a time with its details, and ways to add more. */
export function Models({ app, onUsed }: { app: AppState; onUsed: () => void }) {
  const { shelf } = app;
  const models = useStore(shelf.store, (state) => state.models);
  const [words, setWords] = useState("");
  /** The key of the model that shows its details. */
  const [opened, setOpened] = useState<string | null>(null);
  useEffect(() => {
    void shelf.refresh();
    // Another tab may download or delete models.
    const timer = setInterval(() => void shelf.refresh(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [shelf]);

  const isFound = ({ title, choice }: ShelfModel) =>
    `${title} ${choice.model}`.toLowerCase().includes(words.trim().toLowerCase());
  const toggle = (key: string) => {
    setOpened(opened === key ? null : key);
    if (opened !== key) void shelf.estimate(key);
  };
  const shown = models.filter((model) => isFound(model) || model.key === opened);
  const storedBytes = models.reduce((sum, { stored }) => sum + (stored?.receivedBytes ?? 0), 0);
  return (
    <>
      <div className="min-h-30 min-w-0 flex-1 overflow-auto overscroll-contain">
        <ModelErrorNote className="mx-(--edge) my-3" store={shelf.store} />
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
              app={app}
              model={model}
              isOpened={opened === model.key}
              onToggle={() => toggle(model.key)}
              onAdded={setOpened}
              onUsed={onUsed}
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
        <AddModel shelf={shelf} onAdded={setOpened} />
        <ModelFilesDrop shelf={shelf} onUsed={onUsed} />
      </div>
    </>
  );
}
