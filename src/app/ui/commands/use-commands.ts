import { useEffect } from "react";
import type { Command, Commands } from "../../state/commands/commands.ts";
import { commandFor } from "../../state/commands/shortcuts.ts";
import type { SingleKeys } from "../../state/commands/single-keys.ts";

/** Whether this keyboard says ⌘ where others say Ctrl. */
export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

const TEXT_FIELDS = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])";

/** Registers a component's own commands while it is mounted. `list` must be stable: a constant, or made by useMemo. */
export function useCommands(commands: Commands, list: readonly Command[]): void {
  useEffect(() => {
    return commands.register(list);
  }, [commands, list]);
}

/** Runs `run` if the text field does nothing with the key that it gets now. */
function unlessUsed(field: Element, run: () => void): void {
  let isUsed = false;
  const use = () => {
    isUsed = true;
  };
  field.addEventListener("beforeinput", use);
  setTimeout(() => {
    field.removeEventListener("beforeinput", use);
    if (!isUsed) run();
  });
}

/** Runs commands by their keys, wherever the focus is. An open dialog handles its own keys. */
export function useShortcuts(commands: Commands, singleKeys: SingleKeys): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const hasOpen = document.querySelector("dialog:modal, [popover=auto]:popover-open") !== null;
      if (event.defaultPrevented || event.isComposing || hasOpen) return;
      const field = event.target instanceof Element ? event.target.closest(TEXT_FIELDS) : null;
      const command = commandFor(commands.enabled(), event, {
        isMac,
        isTyping: field !== null,
        areSingleKeysOn: singleKeys.store.getState(),
      });
      if (command === undefined) return;
      if (field && command.isTextFirst) return unlessUsed(field, command.run);
      event.preventDefault();
      command.run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [commands, singleKeys]);
}
