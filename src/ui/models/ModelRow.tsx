import { useId } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { ShelfModel } from "../../state/models/model-shelf.ts";
import { Button } from "../components/Button.tsx";
import { classNames } from "../class-names.ts";
import { formatCount } from "../format.ts";
import { Icon } from "../components/Icon.tsx";
import { ModelActions } from "./ModelActions.tsx";
import { ModelDetails } from "./ModelDetails.tsx";
import { ErrorNote } from "./ModelErrorNote.tsx";
import css from "./ModelList.module.css";
import { ModelStatus } from "./ModelStatus.tsx";

interface ModelRowProps {
  app: AppState;
  model: ShelfModel;
  isOpened: boolean;
  onToggle: () => void;
  onUsed: () => void;
}

export function ModelRow({ app, model, isOpened, onToggle, onUsed }: ModelRowProps) {
  const detailsId = useId();
  const { title, about, choice, isEmbedded, estimate, error } = model;
  const numParameters = estimate?.numParameters ?? about?.numParameters ?? null;
  return (
    <li className={css.model} aria-label={title}>
      <div className={css.row}>
        <Button
          look="icon"
          className={classNames(css.toggle, isOpened && css.opened)}
          aria-label={`What ${title} takes`}
          aria-expanded={isOpened}
          aria-controls={detailsId}
          onClick={onToggle}
        >
          <Icon name="chevron" />
        </Button>
        <div className={css.name}>
          <h3>{title}</h3>
          <p>{isEmbedded ? "comes with the page" : choice.model}</p>
        </div>
        <p className={css.size}>{numParameters !== null && `${formatCount(numParameters / 1e6)} M parameters`}</p>
        <ModelStatus engine={app.engine} model={model} />
        <ModelActions app={app} model={model} onUsed={onUsed} />
      </div>
      {error && <ErrorNote error={error} />}
      <div id={detailsId} hidden={!isOpened}>
        {isOpened && <ModelDetails shelf={app.shelf} model={model} />}
      </div>
    </li>
  );
}
