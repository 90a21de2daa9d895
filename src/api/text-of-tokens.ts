import type { TokenNames } from "./answer.ts";

/**
 * Returns the text of tokens, control tokens by their names. A character may be spread over several tokens; control tokens
 * have no bytes of their own.
 */
export function textOf(tokenIds: readonly number[], tokenizer: TokenNames): string {
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  const parts = tokenIds.map((id) => {
    const bytes = tokenizer.tokenBytes(id);
    return bytes.length > 0 ? utf8.decode(bytes, { stream: true }) : utf8.decode() + tokenizer.tokenText(id);
  });
  return parts.join("") + utf8.decode();
}
