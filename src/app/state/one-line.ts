/** Returns the beginning of a text, at most so many characters, as one line. [the whole text] */
export function oneLine(text: string, length = Infinity): string {
  return text
    .slice(0, 2 * length)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, length);
}
