import { useEffect, useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { AddModel } from "./AddModel.tsx";
import { ModelErrorNote } from "./ModelErrorNote.tsx";
import { ModelFilesDrop } from "./ModelFilesDrop.tsx";
import { ModelList } from "./ModelList.tsx";

const REFRESH_MS = 2000;

/** The picker's content: the models, and ways to add more. */
export function Models({ app, onUsed }: { app: AppState; onUsed: () => void }) {
  const { shelf } = app;
  /** The key of the model that shows its details. */
  const [opened, setOpened] = useState<string | null>(null);
  useEffect(() => {
    void shelf.refresh();
    // Another tab may download or delete models.
    const timer = setInterval(() => void shelf.refresh(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [shelf]);
  return (
    <>
      <div className="min-h-30 min-w-0 flex-1 overflow-auto overscroll-contain">
        <ModelErrorNote className="mx-(--edge) my-3" store={shelf.store} />
        <ModelList app={app} opened={opened} onOpened={setOpened} onUsed={onUsed} />
      </div>
      <div className="grid flex-none grid-cols-2 gap-6 border-t border-line bg-surface-2 px-(--edge) py-4 max-sm:grid-cols-1">
        <AddModel shelf={shelf} onAdded={setOpened} />
        <ModelFilesDrop shelf={shelf} onUsed={onUsed} />
      </div>
    </>
  );
}
