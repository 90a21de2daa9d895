/** The tokens' side of log-probabilities. */
export interface TokenNames {
  tokenBytes(id: number): Uint8Array;
  tokenText(id: number): string;
}
