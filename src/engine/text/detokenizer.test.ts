import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { Detokenizer } from "./detokenizer.ts";

/** What each piece of bytes adds to the text, and what the flush adds. */
function decode(pieces: Uint8Array[]): string[] {
  const detokenizer = new Detokenizer((tokenId) => pieces[tokenId]!);
  return [...pieces.map((_, tokenId) => detokenizer.push(tokenId)), detokenizer.flush()];
}

const utf8 = (text: string) => new TextEncoder().encode(text);

describe("Detokenizer", () => {
  it("gives whole characters as they come", () => {
    expect(decode([utf8("Hello"), utf8(" wörld")])).toEqual(["Hello", " wörld", ""]);
  });

  it.each(["é", "€", "😀", "👩‍👩‍👧", "🇩🇪"])("puts %s together wherever it is split", (character) => {
    const bytes = utf8(character);
    for (let at = 1; at < bytes.length; at++) {
      const pieces = decode([bytes.slice(0, at), bytes.slice(at)]);
      expect(pieces.join("")).toBe(character);
      expect(pieces.join("|")).not.toContain("\uFFFD");
    }
  });

  it("shows nothing of a character before its last byte", () => {
    const bytes = utf8("😀");
    expect(decode([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(["", "", "", "😀", ""]);
  });

  it.each([1, 2, 3])("keeps a byte order mark at the start of the text (%i bytes first)", (first) => {
    const bytes = utf8("\uFEFFa");
    expect(decode([bytes.slice(0, first), bytes.slice(first)]).join("")).toBe("\uFEFFa");
  });

  it("replaces bytes that are no UTF-8 and goes on", () => {
    expect(decode([Uint8Array.of(0x61, 0xff), Uint8Array.of(0xc3), utf8("b")]).join("")).toBe("a\uFFFD\uFFFDb");
  });

  it("shows a character that was never completed as U+FFFD at the flush, once", () => {
    expect(decode([utf8("a"), Uint8Array.of(0xf0, 0x9f)])).toEqual(["a", "", "\uFFFD"]);
  });

  it("passes over special tokens, even in the middle of a character", () => {
    expect(decode([Uint8Array.of(0xc3), new Uint8Array(), Uint8Array.of(0xa9)])).toEqual(["", "", "é", ""]);
  });

  it("keeps its streams apart", () => {
    const tokenBytes = (tokenId: number) => Uint8Array.of(tokenId);
    const [one, two] = [new Detokenizer(tokenBytes), new Detokenizer(tokenBytes)];
    one.push(0xc3);
    expect(two.push(0x61)).toBe("a");
    expect(one.push(0xa9)).toBe("é");
  });

  it("gives the text of all bytes at once, however any bytes are cut", () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 5 }), { maxLength: 8 });
    fc.assert(
      fc.property(pieces, (bytes) => {
        const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
          Uint8Array.from(bytes.flatMap((b) => [...b])),
        );
        expect(decode(bytes).join("")).toBe(whole);
      }),
      { numRuns: 500 },
    );
  });
});
