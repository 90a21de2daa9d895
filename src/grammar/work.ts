// Bounds what a grammar costs to compile, in steps that are counted: a page that checks a schema must not hang.

/** A part of a grammar is too much; the keyword that it was made for may be left out. */
export class TooComplex extends Error {}

/** The grammar as a whole is too much. */
export class TooMuchWork extends Error {}

let stepsLeft = Infinity;

/** Runs what takes at most so many steps. @throws TooMuchWork */
export function withinSteps<T>(most: number, run: () => T): T {
  const before = stepsLeft;
  const own = Math.min(most, before);
  stepsLeft = own;
  try {
    return run();
  } finally {
    stepsLeft += before - own;
  }
}

export function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new TooMuchWork();
}
