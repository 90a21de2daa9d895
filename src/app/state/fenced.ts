/** Returns a text as a block of Markdown, within a fence that is longer than any in it. */
export function fenced(text: string, language = ""): string {
  const longest = [...text.matchAll(/`+/g)].reduce((most, [ticks]) => Math.max(most, ticks.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
