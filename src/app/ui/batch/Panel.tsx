import type { ReactNode } from "react";

/** One of the dock's three parts, which an action goes to. */
export function Panel({ name, head, children }: { name: string; head: ReactNode; children: ReactNode }) {
  return (
    <section
      className="relative flex min-h-0 flex-col overflow-hidden border-line px-4 pt-2 pb-3 not-first:border-l max-sm:overflow-visible max-sm:px-3 max-sm:not-first:border-t max-sm:not-first:border-l-0"
      aria-label={name}
      tabIndex={-1}
    >
      <div className="flex min-h-7 flex-none items-center gap-3 t-11 font-normal whitespace-nowrap text-ink-3 max-sm:flex-wrap max-sm:gap-y-1 max-sm:pb-1">
        <h3 className="text-ink [font:600_12px/16px_var(--sans)]">{name}</h3>
        {head}
      </div>
      {children}
    </section>
  );
}
