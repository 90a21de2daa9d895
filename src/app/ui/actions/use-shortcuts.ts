import { useEffect } from "react";
import { commandFor } from "../../state/commands/shortcuts.ts";
import type { Page } from "../app/page-context.ts";
import { listen } from "../listen.ts";
import { commandsOf } from "./actions.ts";
import { isMac } from "./Keys.tsx";

const TEXT_FIELDS = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])";

/** Runs `run` if the text field does nothing with the key that it gets now. */
function unlessUsed(field: Element, run: () => void): void {
  let isUsed = false;
  const stop = listen(field, { beforeinput: () => (isUsed = true) });
  setTimeout(() => {
    stop();
    if (!isUsed) run();
  });
}

/** Runs the page's actions by their keys, wherever the focus is. An open dialog handles its own keys. */
export function useShortcuts(page: Page): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const hasOpen = document.querySelector("dialog:modal, [popover=auto]:popover-open") !== null;
      if (event.defaultPrevented || event.isComposing || hasOpen) return;
      const field = event.target instanceof Element ? event.target.closest(TEXT_FIELDS) : null;
      const command = commandFor(commandsOf(page), event, {
        isMac,
        isTyping: field !== null,
        areSingleKeysOn: page.singleKeys.store.getState() === "on",
      });
      if (!command?.isEnabled?.()) return;
      if (field && command.isTextFirst) return unlessUsed(field, command.run);
      event.preventDefault();
      command.run();
    };
    return listen(document, { keydown: onKeyDown });
  }, [page]);
}
