import { keyLabels } from "../../state/commands/shortcuts.ts";
import { isMac } from "./use-commands.ts";

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
