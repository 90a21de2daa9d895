import { useStore } from "zustand";
import { useApp } from "../app/page-context.ts";
import { ActionButton } from "../actions/ActionButton.tsx";
import { Guard } from "../components/Guard.tsx";
import { lazyComponent } from "../components/LazyComponent.tsx";
import { HAS_ROOM_FOR_CHATS, useMedia } from "../use-media.ts";

const Chats = lazyComponent(async () => (await import("./Chats.tsx")).Chats);

/** The list of chats, at the side of a window that is wide enough. Its place is kept before it is loaded. */
export function ChatSide() {
  const { chatSide } = useApp();
  const isShown = useStore(chatSide.store) === "shown";
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
        <Chats takesFocus={chatSide.takeCall} isNarrow />
      </Guard>
    </nav>
  );
}
