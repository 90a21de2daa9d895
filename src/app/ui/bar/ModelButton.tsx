import { useStore } from "zustand";
import type { AppState } from "../../state/app/app-state.ts";
import { labelOfChoice } from "../../state/models/model-choice.ts";
import { perform } from "../actions/actions.ts";
import { usePage } from "../app/page-context.ts";
import { Button, Icon } from "../components/Button.tsx";
import { DTYPE_WORDS } from "../dtype-words.ts";
import { formatBytes } from "../format.ts";

/** The model's name; a click opens the list of models and servers. */
export function ModelButton({ engine }: Pick<AppState, "engine">) {
  const page = usePage();
  const model = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model : null));
  const label = useStore(engine.chosen, (chosen) => labelOfChoice(chosen.model));
  const name = model?.name ?? label;
  const size = model && `${formatBytes(model.weightBytes)}, ${model.mixture ?? DTYPE_WORDS[model.dtype].toLowerCase()}`;
  return (
    <Button
      className="min-w-0 flex-initial gap-2 max-sm:gap-1 max-sm:border-transparent max-sm:bg-transparent max-sm:px-1 max-sm:text-left min-[1600px]:max-w-95 min-[1600px]:shrink-0"
      aria-label={["Model:", name, size].filter(Boolean).join(" ")}
      aria-haspopup="dialog"
      title={name}
      onClick={() => perform("models.open", page)}
    >
      <b className="overflow-hidden text-ellipsis max-sm:line-clamp-2 max-sm:wrap-anywhere max-sm:whitespace-normal max-sm:[font:600_13px/15px_var(--sans)]">
        {name}
      </b>{" "}
      {/* As wide before the size is known, so that nothing beside it moves. */}
      <span className="min-w-[17ch] text-left font-normal text-ink-3 max-[1600px]:hidden">{size}</span>
      <Icon name="chevron" />
    </Button>
  );
}
