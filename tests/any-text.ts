import fc from "fast-check";

const SURROGATES = [0xd800, 0x800] as const;

const character = fc.nat({ max: 0x10ffff - SURROGATES[1] }).map((index) => {
  const [first, count] = SURROGATES;
  return String.fromCodePoint(index < first ? index : index + count);
});

/** Texts of any characters. (fast-check's own, with the unit "binary", take four seconds before the first is drawn.) */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(character, { maxLength }).map((characters) => characters.join(""));
}
