import { usePage } from "../app/page-context.ts";
import { classNames } from "../class-names.ts";
import { DIALOGS } from "../overlays/Dialogs.tsx";
import type { Term } from "./explanations.ts";
import css from "./ExplainButton.module.css";

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
      className={classNames(css.button, className)}
      aria-label={label}
      aria-haspopup="dialog"
      title={label}
      onClick={() => overlay.open(DIALOGS.explanation(term, name))}
    >
      ?
    </button>
  );
}
