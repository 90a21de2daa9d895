import { useEffect } from "react";
import type { Command, Commands } from "../state/commands.ts";

/** Registers a part's own commands while it is on the page. `list` must be stable: made once, or by useMemo. */
export function useCommands(commands: Commands, list: readonly Command[]): void {
  useEffect(() => commands.register(list), [commands, list]);
}
