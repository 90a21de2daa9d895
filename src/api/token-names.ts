export interface TokenNames {
  tokenBytes(id: number): Uint8Array;
  tokenText(id: number): string;
}

/** Returns the text of tokens. A character may span several of them; control tokens have no bytes, but names. */
export function textOf(tokenIds: readonly number[], tokenizer: TokenNames): string {
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  const parts = tokenIds.map((id) => {
    const bytes = tokenizer.tokenBytes(id);
    return bytes.length > 0 ? utf8.decode(bytes, { stream: true }) : utf8.decode() + tokenizer.tokenText(id);
  });
  return parts.join("") + utf8.decode();
}
