import type { AppState } from "../../state/app/app-state.ts";
import { ActionButton } from "../actions/ActionButton.tsx";
import { Guard } from "../components/Guard.tsx";
import { lazily } from "../components/Lazily.tsx";
import { HAS_ROOM_FOR_CHATS, useMedia } from "../use-media.ts";
import { useStore } from "../use-store.ts";

const Chats = lazily(async () => (await import("./Chats.tsx")).Chats);

/** The list of chats, at the side of a window that is wide enough. Its place is kept before it is loaded. */
export function ChatSide({ app }: { app: AppState }) {
  const isShown = useStore(app.chatSide.store) === "shown";
  const hasRoom = useMedia(HAS_ROOM_FOR_CHATS);
  if (!isShown || !hasRoom) return null;
  return (
    // Before the panes to the eye, after them to Tab: it may have hundreds of buttons.
    <nav className="flex min-h-0 w-64 flex-col pb-3 pl-2 [--edge:12px] [grid-area:1/1]" aria-label="Chats">
      <div className="row justify-between pl-(--edge)">
        <h2 className="title">Chats</h2>
        <ActionButton action="chats.side" icon="left" name="Hide the list of chats" />
      </div>
      <Guard part="The list of chats">
        <Chats app={app} takesFocus={app.chatSide.takeCall} isNarrow />
      </Guard>
    </nav>
  );
}
