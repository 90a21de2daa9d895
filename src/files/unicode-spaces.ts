/** Returns the pattern with Unicode's White_Space for \s, as Hugging Face's patterns mean it; JavaScript's \s differs. */
export function withUnicodeSpaces(pattern: string): string {
  return pattern.replaceAll("\\s", "\\p{White_Space}").replaceAll("\\S", "\\P{White_Space}");
}
