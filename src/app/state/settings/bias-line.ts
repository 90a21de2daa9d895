/** A word or a token whose logit is changed. */
export interface Bias {
  /** A token's id, or a text. */
  readonly of: number | string;
  /** -100 .. 100 */
  readonly bias: number;
}

/** Reads a line such as "Paris: 5" or "#464: -100"; returns null if it isn't one. */
export function readBias(line: string): Bias | null {
  const colon = line.lastIndexOf(":");
  const name = line.slice(0, Math.max(0, colon)).trim();
  const number = line.slice(colon + 1).trim();
  const bias = Number(number);
  if (name === "" || number === "" || !(Math.abs(bias) <= 100)) return null;
  return { of: /^#\d{1,9}$/.test(name) ? Number(name.slice(1)) : name, bias };
}
