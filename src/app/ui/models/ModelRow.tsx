import { useEffect, useId, useRef } from "react";
import type { CatalogueEntry } from "../../../index.ts";
import type { AppState } from "../../state/app/app-state.ts";
import type { ShelfModel } from "../../state/models/model-shelf.ts";
import { IconButton } from "../components/IconButton.tsx";
import { formatCount } from "../format.ts";
import { ModelActions } from "./ModelActions.tsx";
import { ModelDetails } from "./ModelDetails.tsx";
import { ErrorNote } from "./ModelErrorNote.tsx";
import css from "./ModelList.module.css";
import { ModelStatus } from "./ModelStatus.tsx";

/** The use of each kind of model. */
const KIND_WORDS: Readonly<Record<CatalogueEntry["kind"], string>> = {
  chat: "chats",
  instruction: "follows instructions",
  base: "continues text",
  test: "random words",
};

interface ModelRowProps {
  app: AppState;
  model: ShelfModel;
  isOpened: boolean;
  onToggle: () => void;
  onAdded: (key: string) => void;
  onUsed: () => void;
}

export function ModelRow({ app, model, isOpened, onToggle, onAdded, onUsed }: ModelRowProps) {
  const detailsId = useId();
  const { title, about, choice, isEmbedded, estimate, stored, error } = model;
  const numParameters = estimate?.numParameters ?? about?.numParameters ?? null;
  const row = useRef<HTMLLIElement>(null);
  // Details that open at the list's lower edge come into view, and so do their later figures.
  useEffect(() => {
    if (isOpened) row.current?.scrollIntoView({ block: "nearest" });
  }, [isOpened, estimate]);
  // The button that opened it is gone if it stood in another model's details.
  useEffect(() => {
    if (isOpened && document.activeElement === document.body) row.current?.querySelector("button")?.focus();
  }, [isOpened]);
  return (
    <li ref={row} className={css.model} aria-label={title}>
      <div className={css.row}>
        <IconButton
          icon="chevron"
          className={css.toggle}
          name={`What ${title} takes`}
          aria-expanded={isOpened}
          aria-controls={detailsId}
          onClick={onToggle}
        />
        <div className={css.name}>
          <h3>
            {title}{" "}
            {about !== null && about === app.shelf.recommended && (
              <span className={css.recommended} title={about.expect}>
                Recommended
              </span>
            )}
          </h3>
          <p className="small cut">
            {[isEmbedded ? "chats" : about && KIND_WORDS[about.kind], isEmbedded ? "comes with the page" : choice.model]
              .filter(Boolean)
              .join(" · ")}
          </p>
        </div>
        <p className={css.size}>{numParameters !== null && `${formatCount(numParameters / 1e6)} M parameters`}</p>
        <ModelStatus engine={app.engine} model={model} />
        <ModelActions app={app} model={model} onUsed={onUsed} />
      </div>
      {error && <ErrorNote error={error} more={stored?.status === "partial" ? "What has arrived is kept." : ""} />}
      <div id={detailsId} hidden={!isOpened}>
        {isOpened && <ModelDetails shelf={app.shelf} model={model} onAdded={onAdded} />}
      </div>
    </li>
  );
}
