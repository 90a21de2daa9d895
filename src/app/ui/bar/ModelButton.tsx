import type { AppState } from "../../state/app/app-state.ts";
import { labelOfChoice } from "../../state/models/model-choice.ts";
import { perform } from "../actions/actions.ts";
import { usePage } from "../app/page-context.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { DTYPE_WORDS } from "../dtype-words.ts";
import { formatBytes } from "../format.ts";
import { useStore } from "../use-store.ts";
import css from "./ModelButton.module.css";

/** The model's name; a click opens the list of models and servers. */
export function ModelButton({ engine }: Pick<AppState, "engine">) {
  const page = usePage();
  const model = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  const label = useStore(engine.chosen, (chosen) => labelOfChoice(chosen.model));
  const name = model?.name ?? label;
  const size = model && `${formatBytes(model.weightBytes)}, ${model.mixture ?? DTYPE_WORDS[model.dtype].toLowerCase()}`;
  return (
    <Button
      className={css.button}
      aria-label={["Model:", name, size].filter(Boolean).join(" ")}
      aria-haspopup="dialog"
      title={name}
      onClick={() => perform("models.open", page)}
    >
      <b>{name}</b> <span>{size}</span>
      <Icon name="chevron" />
    </Button>
  );
}
