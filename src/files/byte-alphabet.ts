// Byte-level BPE writes each byte as a visible character. Printable Latin-1 stands for itself; the 68 other bytes, in
// order, become U+0100, U+0101, ... (a space is "Ġ", U+0120).

const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);

const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 256 }, (_, byte) => byte)
    .toSorted((a, b) => Number(isPrintable(b)) - Number(isPrintable(a)) || a - b)
    .map((byte, rank) => [String.fromCharCode(isPrintable(byte) ? byte : 256 + rank - 188), byte]),
);

/** Returns the bytes of a SentencePiece token. */
export function bytesOfPiece(piece: string): Uint8Array {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(piece)?.[1];
  return byte === undefined ? new TextEncoder().encode(piece.replaceAll("▁", " ")) : Uint8Array.of(parseInt(byte, 16));
}

/** Returns the bytes of a byte-level token. A character outside the alphabet stands for itself, in UTF-8. */
export function bytesOfToken(token: string): Uint8Array {
  const bytes = Array.from(
    token,
    (character) => BYTE_OF_CHARACTER.get(character) ?? [...new TextEncoder().encode(character)],
  );
  return Uint8Array.from(bytes.flat());
}
