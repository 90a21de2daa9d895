import type { AppState } from "../../state/app/app-state.ts";
import { ActionButton } from "../actions/ActionButton.tsx";
import { HAS_ROOM_FOR_CHATS, useMedia } from "../use-media.ts";
import { useStore } from "../use-store.ts";

/** Shows or hides the list of chats at the side; in a narrow window it opens as a dialog. */
export function ChatsButton({ app }: { app: AppState }) {
  const isShown = useStore(app.chatSide.store, (state) => state.isShown);
  const place = useMedia(HAS_ROOM_FOR_CHATS)
    ? ({ action: "chats.side", "aria-expanded": isShown } as const)
    : ({ action: "chats.open", "aria-haspopup": "dialog" } as const);
  return <ActionButton icon="chats" name="Chats" {...place} />;
}
