import type { Commands } from "../../state/commands.ts";
import { keyLabels } from "../../state/shortcuts.ts";
import { Button } from "../Button.tsx";
import { Icon } from "../Icon.tsx";
import { isMac } from "../is-mac.ts";

/** Opens the palette, for those who don't know its keys yet. */
export function CommandsButton({ commands }: { commands: Commands }) {
  const open = () =>
    commands
      .enabled()
      .find(({ id }) => id === "palette.open")
      ?.run();
  return (
    <Button
      look="icon"
      aria-label="Commands"
      aria-haspopup="dialog"
      title={`Commands (${keyLabels("Mod+K", isMac).join("+")})`}
      onClick={open}
    >
      <Icon name="search" />
    </Button>
  );
}
