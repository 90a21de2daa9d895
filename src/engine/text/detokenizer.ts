/** The bytes a token stands for; none for special tokens. */
export type TokenBytes = (tokenId: number) => Uint8Array;

/**
 * Text of a stream of byte-level tokens. A character may be spread over several tokens; its bytes wait inside the
 * decoder until it is whole. Bytes that are no UTF-8 become U+FFFD.
 */
export class Detokenizer {
  readonly #tokenBytes: TokenBytes;
  // Without ignoreBOM a U+FEFF at the start of an answer would be swallowed.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(tokenBytes: TokenBytes) {
    this.#tokenBytes = tokenBytes;
  }

  /** The characters that this token completes. */
  push(tokenId: number): string {
    return this.#decoder.decode(this.#tokenBytes(tokenId), { stream: true });
  }

  /** U+FFFD for a character that was never completed, else nothing. */
  flush(): string {
    return this.#decoder.decode();
  }
}
