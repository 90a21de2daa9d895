import { useCallback, useSyncExternalStore } from "react";
import { listen } from "./listen.ts";

/** Windows with one pane in view at a time. */
export const PHONE = "(max-width: 719px)";

/** Windows with room for the list of chats at their side. */
export const HAS_ROOM_FOR_CHATS = "(min-width: 1200px)";

/** Windows with room for the map of the cache, which is not drawn or requested elsewhere. */
export const HAS_ROOM_FOR_MAP = "(min-width: 1280px), (max-width: 719px)";

export function useMedia(query: string): boolean {
  const subscribe = useCallback((change: () => void) => listen(matchMedia(query), { change }), [query]);
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

const subscribeToNetwork = (onChange: () => void) => listen(window, { online: onChange, offline: onChange });

/** Returns whether the browser thinks that it has a network. */
export function useOnline(): boolean {
  return useSyncExternalStore(subscribeToNetwork, () => navigator.onLine);
}
