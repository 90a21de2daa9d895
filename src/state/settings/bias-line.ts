/** A word or a token whose logit is changed. */
export interface Bias {
  /** A token's id, or a text. */
  readonly of: number | string;
  /** -100 .. 100 */
  readonly bias: number;
}

/** Reads a line such as "Paris: 5" or "#464: -100". Null: it isn't one. */
export function readBias(line: string): Bias | null {
  const [, name = "", number = ""] = /^(.*\S)\s*:\s*(-?\d+(?:\.\d+)?)\s*$/.exec(line) ?? [];
  const bias = Number(number);
  if (name.trim() === "" || Math.abs(bias) > 100) return null;
  const [, id] = /^\s*#(\d{1,9})$/.exec(name) ?? [];
  return { of: id === undefined ? name.trim() : Number(id), bias };
}
