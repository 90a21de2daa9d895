import { usePage } from "../app/page-context.ts";
import { DIALOGS } from "../overlays/Dialogs.tsx";
import type { Term } from "./explanations.ts";

/** A "?" that explains the figure beside it. */
export function ExplainButton({ term, name }: { term: Term; name: string }) {
  const { overlay } = usePage();
  const label = `About ${name}`;
  return (
    <button
      type="button"
      className="relative size-4 flex-none rounded-full border border-line-strong bg-transparent p-0 text-center text-ink-3 [font:600_10px/14px_var(--sans)] after:absolute after:-inset-1.25 after:content-[''] hover:border-control hover:text-ink"
      aria-label={label}
      aria-haspopup="dialog"
      title={label}
      onClick={() => overlay.open(DIALOGS.explanation(term, name))}
    >
      ?
    </button>
  );
}
