import { attempt } from "./attempt.ts";

/** Returns a text with its percent escapes decoded; null if they are not UTF-8, or if a "%" begins none. */
export function percentDecoded(text: string): string | null {
  return attempt(() => decodeURIComponent(text), null);
}
