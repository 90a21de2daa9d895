import { createStore } from "../store.ts";

/** A recording that the chats hand to the player: a dropped file, or the run so far. */
export const pendingRecording = createStore<{ readonly name: string; readonly text: string } | null>(() => null);

export function playRecording(name: string, text: string): void {
  pendingRecording.setState({ name, text }, true);
  location.assign("#/player");
}
