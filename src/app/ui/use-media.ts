import { useCallback, useSyncExternalStore } from "react";

/** Where one pane is in view at a time. */
export const PHONE = "(max-width: 719px)";

/** Where the map of the cache fits. It is not drawn elsewhere, nor asked for. */
export const HAS_ROOM_FOR_MAP = "(min-width: 1280px), (max-width: 719px)";

/** Whether a media query holds now. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

function subscribeToNetwork(onChange: () => void): () => void {
  addEventListener("online", onChange);
  addEventListener("offline", onChange);
  return () => {
    removeEventListener("online", onChange);
    removeEventListener("offline", onChange);
  };
}

/** Whether the browser thinks that it has a network. */
export function useOnline(): boolean {
  return useSyncExternalStore(subscribeToNetwork, () => navigator.onLine);
}
