import type { Commands } from "../../state/commands/commands.ts";
import { keyLabels } from "../../state/commands/shortcuts.ts";
import { IconButton } from "../components/IconButton.tsx";
import { isMac } from "../commands/use-commands.ts";

/** Opens the palette, for people who don't know its keys. */
export function CommandsButton({ commands }: { commands: Commands }) {
  const open = () =>
    commands
      .enabled()
      .find(({ id }) => id === "palette.open")
      ?.run();
  return (
    <IconButton
      icon="search"
      name="Commands"
      aria-haspopup="dialog"
      title={`Commands (${keyLabels("Mod+K", isMac).join("+")})`}
      onClick={open}
    />
  );
}
