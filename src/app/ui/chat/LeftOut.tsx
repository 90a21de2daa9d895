import { formatCount } from "../format.ts";

/** Most characters shown of one question or answer. Layout takes seconds for millions. */
const MAX_SHOWN = 200_000;

/** Returns the shown beginning of a text. */
export function shownPart(text: string): string {
  return text.length > MAX_SHOWN ? text.slice(0, MAX_SHOWN) : text;
}

/** Says how much of a very long text is not shown. */
export function LeftOut({ text }: { text: string }) {
  if (text.length <= MAX_SHOWN) return null;
  return <p role="note">{formatCount(text.length - MAX_SHOWN)} more characters are kept, but not shown.</p>;
}
