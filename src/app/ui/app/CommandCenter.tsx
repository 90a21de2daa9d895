import { useMemo, useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { SingleKeys } from "../../state/commands/single-keys.ts";
import type { Theme } from "../../state/app/theme.ts";
import { appCommands } from "./app-commands.ts";
import { batchCommands } from "../batch/batch-commands.ts";
import { SavedPromptsDialog } from "../chat/SavedPromptsDialog.tsx";
import { Palette } from "../commands/Palette.tsx";
import { ShortcutList } from "../commands/ShortcutList.tsx";
import { useCommands, useShortcuts } from "../commands/use-commands.ts";

/** The palette, the list of shortcuts, and the key handler. */
export function CommandCenter({ app, theme }: { app: AppState; theme: Theme }) {
  const [singleKeys] = useState(() => new SingleKeys());
  useCommands(
    app.commands,
    useMemo(() => [...appCommands(app, theme), ...batchCommands(app.batch)], [app, theme]),
  );
  useShortcuts(app.commands, singleKeys);
  return (
    <>
      <Palette commands={app.commands} />
      <SavedPromptsDialog app={app} />
      <ShortcutList commands={app.commands} singleKeys={singleKeys} />
    </>
  );
}
