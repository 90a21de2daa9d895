import { keyLabels } from "../../state/commands/shortcuts.ts";

/** Whether this keyboard says ⌘ where others say Ctrl. */
export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** A shortcut as the keyboard labels it. */
export function Keys({ keys }: { keys: string }) {
  return (
    <span className="keys">
      {keyLabels(keys, isMac).map((label) => (
        <kbd key={label}>{label}</kbd>
      ))}
    </span>
  );
}
