import { keyLabels } from "../../state/commands/shortcuts.ts";

/** Whether this keyboard says ⌘ where others say Ctrl. */
export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function Keys({ keys }: { keys: string }) {
  return (
    <span className="inline-flex flex-none gap-0.75">
      {keyLabels(keys, isMac).map((label) => (
        <kbd
          key={label}
          className="grid h-5 min-w-5 place-items-center rounded-sm border border-line-strong bg-surface px-1.25 text-ink-2 [font:500_11px/1_var(--sans)]"
        >
          {label}
        </kbd>
      ))}
    </span>
  );
}
