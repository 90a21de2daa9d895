import { createStore } from "../store.ts";

/** A recording that the chats hand to the player: a dropped file, or the run so far. */
interface PendingRecording {
  readonly name: string;
  readonly text: string;
}

/** Null if there is none. */
export const pendingRecording = createStore<PendingRecording | null>(() => null);

/** Opens the player with a recording. */
export function playRecording(name: string, text: string): void {
  pendingRecording.setState({ name, text }, true);
  location.assign("#/player");
}
