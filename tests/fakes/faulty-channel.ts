// A channel on which messages come late, twice, broken or not at all.

import fc from "fast-check";

/** "unpostable": posting throws. "unreadable": null comes in its place, as browsers do it. Order is kept, as ports keep it. */
export const FAULTS = ["none", "late", "twice", "unpostable", "unreadable", "lost"] as const;
export type Fault = (typeof FAULTS)[number];

/** Draws the faults of a channel's messages. Most have none. */
export function drawFaults(length: number, faults: readonly Fault[] = FAULTS): fc.Arbitrary<Fault[]> {
  const one = fc.oneof({ weight: 2, arbitrary: fc.constant<Fault>("none") }, fc.constantFrom(...faults));
  return fc.array(one, { minLength: length, maxLength: length });
}

/** Whether a message with this fault can't come. */
export function isBroken(fault: Fault | undefined): boolean {
  return fault === "unpostable" || fault === "unreadable";
}

const LATE_MS = 7;

/** Returns what posts messages to `deliver`, each with its fault. */
export function faultyChannel<Message>(
  faultOf: (message: Message) => Fault | undefined,
  deliver: (message: Message | null) => void,
): (message: Message) => void {
  let last: Promise<unknown> = Promise.resolve();
  return (message) => {
    const fault = faultOf(message);
    if (fault === "unpostable") throw new DOMException("It could not be cloned.", "DataCloneError");
    if (fault === "lost") return;
    const copy = fault === "unreadable" ? null : structuredClone(message);
    last = last.then(async () => {
      if (fault === "late") await new Promise((resolve) => setTimeout(resolve, LATE_MS));
      deliver(copy);
      if (fault === "twice") deliver(copy);
    });
  };
}
