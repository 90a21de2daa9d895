import { useEffect, useId, useRef } from "react";
import type { CatalogueEntry } from "../../../index.ts";
import type { LibraryModel } from "../../state/models/model-library.ts";
import { useApp } from "../app/page-context.ts";
import { IconButton } from "../components/Button.tsx";
import { formatCount } from "../format.ts";
import { ModelActions } from "./ModelActions.tsx";
import { ModelDetails } from "./ModelDetails.tsx";
import { ErrorNote } from "./ErrorNote.tsx";
import { ModelStatus } from "./ModelStatus.tsx";

/** The use of each kind of model. */
const KIND_WORDS: Readonly<Record<CatalogueEntry["kind"], string>> = {
  chat: "chats",
  instruction: "follows instructions",
  base: "continues text",
  test: "random words",
};

interface ModelRowProps {
  model: LibraryModel;
  isOpened: boolean;
  onToggle: () => void;
  onAdded: (key: string) => void;
}

export function ModelRow({ model, isOpened, onToggle, onAdded }: ModelRowProps) {
  const { engine, library } = useApp();
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
    <li
      ref={row}
      className="border-b border-line py-0 pr-6 pl-4 max-sm:py-2 max-sm:pr-3 max-sm:pl-1"
      aria-label={title}
    >
      <div className="grid min-h-13.5 grid-cols-[28px_minmax(0,1fr)_132px_220px_170px] items-center gap-x-2 gap-y-0 max-sm:grid-cols-[36px_minmax(0,1fr)_auto] max-sm:gap-y-0.5">
        <IconButton
          icon="chevron"
          className="[transition:rotate_var(--fast)] not-aria-expanded:-rotate-90 max-sm:[grid-area:1/1]"
          name={`Details of ${title}`}
          aria-expanded={isOpened}
          aria-controls={detailsId}
          onClick={onToggle}
        />
        <div className="max-sm:[grid-area:1/2/2/4]">
          <h3>
            {title}{" "}
            {about !== null && about === library.recommended && (
              <span
                className="ml-2 rounded-sm bg-good-tint px-1.5 text-good [font:600_11px/16px_var(--sans)]"
                title={about.expect}
              >
                Recommended
              </span>
            )}
          </h3>
          <p className="small min-w-0 truncate">
            {[isEmbedded ? "chats" : about && KIND_WORDS[about.kind], isEmbedded ? "comes with the page" : choice.model]
              .filter(Boolean)
              .join(" · ")}
          </p>
        </div>
        <p className="small pr-3 text-right whitespace-nowrap max-sm:hidden">
          {numParameters !== null && `${formatCount(numParameters / 1e6)} M parameters`}
        </p>
        <ModelStatus engine={engine} model={model} />
        <ModelActions model={model} />
      </div>
      {error && (
        <ErrorNote
          className="mb-2.5 ml-9"
          error={error}
          more={stored?.status === "partial" ? "What has arrived is kept." : ""}
        />
      )}
      <div id={detailsId} hidden={!isOpened}>
        {isOpened && <ModelDetails library={library} model={model} onAdded={onAdded} />}
      </div>
    </li>
  );
}
