import { useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { ShelfModel } from "../../state/models/model-shelf.ts";
import { formatBytes } from "../format.ts";
import { useStore } from "../use-store.ts";
import { ModelRow } from "./ModelRow.tsx";

interface ModelListProps {
  app: AppState;
  /** The key of the model that shows its details. */
  opened: string | null;
  onOpened: (key: string | null) => void;
  onUsed: () => void;
}

/** The models to choose from. One at a time shows its details. */
export function ModelList({ app, opened, onOpened, onUsed }: ModelListProps) {
  const models = useStore(app.shelf.store, (state) => state.models);
  const [words, setWords] = useState("");
  const isFound = ({ title, choice }: ShelfModel) =>
    `${title} ${choice.model}`.toLowerCase().includes(words.trim().toLowerCase());

  const toggle = (key: string) => {
    onOpened(opened === key ? null : key);
    if (opened !== key) void app.shelf.estimate(key);
  };
  const shown = models.filter((model) => isFound(model) || model.key === opened);
  const storedBytes = models.reduce((sum, { stored }) => sum + (stored?.receivedBytes ?? 0), 0);
  return (
    <>
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
            onAdded={onOpened}
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
    </>
  );
}
