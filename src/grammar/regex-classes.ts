import { charSetOf, complement, normalized, union, type CharSet } from "./char-set.ts";

const DIGIT = normalized([[0x30, 0x39]]);
const WORD = union(DIGIT, charSetOf("_"), normalized([[0x41, 0x5a]]), normalized([[0x61, 0x7a]]));
const LINE_END = charSetOf("\n\r\u2028\u2029");
const SPACE = union(LINE_END, charSetOf("\t\v\f \u00a0\u1680\u202f\u205f\u3000\ufeff"), normalized([[0x2000, 0x200a]]));

/** "." as in JavaScript. */
export const NO_LINE_END: CharSet = complement(LINE_END);

/** Character sets of \d, \w, ... by letter. */
export const CLASS_ESCAPES: Readonly<Record<string, CharSet>> = {
  d: DIGIT,
  D: complement(DIGIT),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};

export const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  "0": "\0",
};
