import { useEffect, useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { classNames } from "../class-names.ts";
import { AddModel } from "./AddModel.tsx";
import { ModelErrorNote } from "./ModelErrorNote.tsx";
import { ModelFilesDrop } from "./ModelFilesDrop.tsx";
import { ModelList } from "./ModelList.tsx";
import view from "../components/PickerView.module.css";
import css from "./Models.module.css";

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
      <div className={classNames(view.body, css.list)}>
        <ModelErrorNote store={shelf.store} />
        <ModelList app={app} opened={opened} onOpened={setOpened} onUsed={onUsed} />
      </div>
      <div className={view.add}>
        <AddModel shelf={shelf} onAdded={setOpened} />
        <ModelFilesDrop shelf={shelf} onUsed={onUsed} />
      </div>
    </>
  );
}
