import type { Pane } from "./pane.ts";

/** Resolves when a pane's newest answer has ended, with whether it ended by itself or at its limit. */
export function answerEnded(pane: Pane): Promise<boolean> {
  return new Promise((resolve) => {
    const look = () => {
      const { phase, note, turns } = pane.store.getState();
      // A note for information, such as a change of the answerer, ends nothing.
      if (phase !== "idle" && (note === null || note.kind === "info")) return;
      unsubscribe();
      const end = turns.at(-1)?.end;
      resolve(end === "stop" || end === "length");
    };
    const unsubscribe = pane.store.subscribe(look);
    look();
  });
}
