import type { Commands } from "../../state/commands/commands.ts";
import { keyLabels } from "../../state/commands/shortcuts.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { isMac } from "../commands/use-commands.ts";

/** Opens the palette, for people who don't know its keys. */
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
