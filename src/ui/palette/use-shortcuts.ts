import { useEffect } from "react";
import type { Commands } from "../../state/commands.ts";
import { commandFor } from "../../state/shortcuts.ts";
import type { SingleKeys } from "../../state/single-keys.ts";
import { isMac } from "../is-mac.ts";

const TEXT_FIELDS = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])";

/** Keys do what the commands say, wherever the focus is. An open dialog keeps its keys for itself. */
export function useShortcuts(commands: Commands, singleKeys: SingleKeys): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || document.querySelector("dialog:modal, :popover-open")) return;
      const command = commandFor(commands.enabled(), event, {
        isMac,
        isTyping: event.target instanceof Element && event.target.closest(TEXT_FIELDS) !== null,
        areSingleKeysOn: singleKeys.store.getState(),
      });
      if (command === undefined) return;
      event.preventDefault();
      command.run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [commands, singleKeys]);
}
