import { usePage } from "../app/page-context.ts";
import { classNames } from "../class-names.ts";
import { DIALOGS } from "../overlays/Dialogs.tsx";
import type { Term } from "./explanations.ts";

interface ExplainButtonProps {
  term: Term;
  /** Name of the explained figure. */
  name: string;
  className?: string | undefined;
}

/** A "?" that explains the figure beside it. */
export function ExplainButton({ term, name, className }: ExplainButtonProps) {
  const { overlay } = usePage();
  const label = `About ${name}`;
  return (
    <button
      type="button"
      className={classNames(
        "relative size-4 flex-none rounded-full border border-line-strong bg-transparent p-0 text-center text-ink-3 [font:600_10px/14px_var(--sans)] after:absolute after:-inset-1.25 after:content-[''] hover:border-control hover:text-ink",
        className,
      )}
      aria-label={label}
      aria-haspopup="dialog"
      title={label}
      onClick={() => overlay.open(DIALOGS.explanation(term, name))}
    >
      ?
    </button>
  );
}
