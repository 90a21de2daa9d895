import { useEffect, useMemo, useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { SavedPrompts } from "../../state/chat/saved-prompts.ts";
import { SingleKeys } from "../../state/commands/single-keys.ts";
import type { Theme } from "../../state/app/theme.ts";
import { appCommands } from "./app-commands.ts";
import { batchCommands } from "../batch/batch-commands.ts";
import { focusMessageOf } from "../chat/Composer.tsx";
import { promptCommands } from "../chat/prompt-commands.ts";
import { Palette } from "../commands/Palette.tsx";
import { ShortcutList } from "../commands/ShortcutList.tsx";
import { useCommands, useShortcuts } from "../commands/use-commands.ts";
import { useStore } from "../use-store.ts";

/** The palette, the list of shortcuts, and the key handler. */
export function CommandCenter({ app, theme }: { app: AppState; theme: Theme }) {
  const [singleKeys] = useState(() => new SingleKeys());
  useCommands(
    app.commands,
    useMemo(() => [...appCommands(app, theme), ...batchCommands(app.batch)], [app, theme]),
  );
  const [prompts] = useState(() => new SavedPrompts());
  const saved = useStore(prompts.store);
  useEffect(() => {
    addEventListener("storage", prompts.refresh);
    return () => removeEventListener("storage", prompts.refresh);
  }, [prompts]);
  useCommands(
    app.commands,
    useMemo(() => promptCommands(app.workspace, prompts, saved, focusMessageOf), [app, prompts, saved]),
  );
  useShortcuts(app.commands, singleKeys);
  return (
    <>
      <Palette commands={app.commands} />
      <ShortcutList commands={app.commands} singleKeys={singleKeys} />
    </>
  );
}
