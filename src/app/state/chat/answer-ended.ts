import { until } from "../store.ts";
import type { Pane } from "./pane.ts";

/** Resolves when a pane's newest answer has ended, with whether it ended by itself or at its limit. */
export async function answerEnded({ store }: Pane): Promise<boolean> {
  // A note for information, such as a change of the answerer, ends nothing.
  const { turns } = await until(
    store,
    ({ phase, note }) => phase === "idle" || (note !== null && note.kind !== "info"),
  );
  const end = turns.at(-1)?.end;
  return end === "stop" || end === "length";
}
