import type { Pane } from "./pane.ts";

/** Resolves when a pane's newest answer has ended, with whether it came to its end by itself or at its limit. */
export function answerEnded(pane: Pane): Promise<boolean> {
  return new Promise((resolve) => {
    const look = () => {
      const { phase, note, turns } = pane.store.getState();
      // An information, such as who answers, ends nothing.
      if (phase !== "idle" && (note === null || note.kind === "info")) return;
      unsubscribe();
      const end = turns.at(-1)?.end;
      resolve(end === "stop" || end === "length");
    };
    const unsubscribe = pane.store.subscribe(look);
    look();
  });
}
