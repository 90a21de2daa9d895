/** Returns the bytes of a token; none for special tokens. */
export type TokenBytes = (tokenId: number) => Uint8Array;

/**
 * Turns a stream of byte-level tokens into text. A character may span several tokens; the decoder keeps its bytes until it
 * is complete. Bytes that aren't UTF-8 become U+FFFD.
 */
export class Detokenizer {
  readonly #tokenBytes: TokenBytes;
  // Without ignoreBOM the decoder would drop a U+FEFF at the start of an answer.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(tokenBytes: TokenBytes) {
    this.#tokenBytes = tokenBytes;
  }

  /** Returns the characters that this token completes. */
  push(tokenId: number): string {
    return this.#decoder.decode(this.#tokenBytes(tokenId), { stream: true });
  }

  /** Returns U+FFFD for an incomplete character, else nothing. */
  flush(): string {
    return this.#decoder.decode();
  }
}
