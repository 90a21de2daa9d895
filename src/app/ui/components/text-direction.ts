const LETTER = /\p{L}/u;
/** Letters of scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Letters are looked for in so many characters. */
const BEGINNING = 10_000;

/** Returns what `dir="auto"` would be. In a text box of many lines Chromium looks at all of them once more with each line. */
export function directionOf(text: string): "ltr" | "rtl" {
  const [first = ""] = LETTER.exec(text.slice(0, BEGINNING)) ?? [];
  return RIGHT_TO_LEFT.test(first) ? "rtl" : "ltr";
}
