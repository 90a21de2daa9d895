/** Returns a text with its percent escapes decoded. Null: they are no UTF-8, or a "%" begins none. */
export function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
