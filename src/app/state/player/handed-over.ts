import { createStore } from "../store.ts";

/** A recording that the chats hand to the player: a dropped file, or the run so far. */
interface HandedOver {
  readonly name: string;
  readonly text: string;
}

/** Null if there is none. */
export const handedOver = createStore<HandedOver | null>(() => null);

/** Opens the player with a recording. */
export function playRecording(name: string, text: string): void {
  handedOver.setState({ name, text }, true);
  location.assign("#/player");
}
