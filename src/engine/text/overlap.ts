/** Returns the length of a text's longest end with which another one begins; less than all of the other. */
export function overlap(text: string, next: string): number {
  for (let length = Math.min(next.length - 1, text.length); length > 0; length--) {
    if (next.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
