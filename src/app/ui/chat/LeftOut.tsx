import { formatCount } from "../format.ts";

/** Characters of one question or answer that are shown. Layout takes seconds for millions. */
const MAX_SHOWN = 200_000;

/** Returns the beginning of a text, as far as it is shown. */
export function shownPart(text: string): string {
  return text.length > MAX_SHOWN ? text.slice(0, MAX_SHOWN) : text;
}

/** Says how much of a very long text is not shown. */
export function LeftOut({ text }: { text: string }) {
  if (text.length <= MAX_SHOWN) return null;
  return <p role="note">{formatCount(text.length - MAX_SHOWN)} more characters are kept, but not shown.</p>;
}
