import { useCallback, useMemo, useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { Command } from "../../state/commands/commands.ts";
import { IconButton } from "../components/IconButton.tsx";
import { lazily } from "../components/Lazily.tsx";
import { useCommands } from "../commands/use-commands.ts";

const ChatListDialog = lazily(async () => (await import("./ChatListDialog.tsx")).ChatListDialog);

/** Opens the list of all chats. */
export function ChatsButton({ app }: { app: AppState }) {
  const [isOpen, setOpen] = useState(false);
  const open = useCallback(() => setOpen(true), []);
  useCommands(
    app.commands,
    useMemo(
      (): readonly Command[] => [
        {
          id: "chats.open",
          title: "Find a chat",
          group: "Chats",
          keys: "Alt+H",
          words: "history list search closed earlier open delete",
          run: open,
        },
      ],
      [open],
    ),
  );
  return (
    <>
      <IconButton icon="chats" name="Chats" aria-haspopup="dialog" title="Find a chat" onClick={open} />
      {isOpen && <ChatListDialog app={app} onClosed={() => setOpen(false)} />}
    </>
  );
}
