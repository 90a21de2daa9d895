import { useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { formatBytes } from "../format.ts";
import { useStore } from "../use-store.ts";
import css from "./ModelList.module.css";
import { ModelRow } from "./ModelRow.tsx";

/** The models to choose from. One at a time shows its details. */
export function ModelList({ app, onUsed }: { app: AppState; onUsed: () => void }) {
  const models = useStore(app.shelf.store, (state) => state.models);
  const [opened, setOpened] = useState<string | null>(null);

  const toggle = (key: string) => {
    setOpened(opened === key ? null : key);
    if (opened !== key) void app.shelf.estimate(key);
  };
  const storedBytes = models.reduce((sum, { stored }) => sum + (stored?.receivedBytes ?? 0), 0);
  return (
    <>
      <ul aria-label="Models">
        {models.map((model) => (
          <ModelRow
            key={model.key}
            app={app}
            model={model}
            isOpened={opened === model.key}
            onToggle={() => toggle(model.key)}
            onUsed={onUsed}
          />
        ))}
      </ul>
      {storedBytes > 0 && <p className={css.sum}>{formatBytes(storedBytes)} of models are kept in this browser.</p>}
    </>
  );
}
