// 10,000 lying headers: each must be refused, or describe tensors that exist.

import fc from "fast-check";
import { expect, test } from "vitest";
import { ChorusError } from "../protocol/errors.ts";
import { encodeSafetensorsHeader, headerEnd, parseSafetensorsHeader, type TensorEntry } from "./safetensors-header.ts";

const FILE = "model-00001-of-00002.safetensors";
const SOUND: readonly TensorEntry[] = [
  { name: "wte.weight", dtype: "F32", shape: [4, 3], begin: 0, end: 48 },
  { name: "h.0.attn.bias", dtype: "BOOL", shape: [1, 1, 4, 4], begin: 48, end: 64 },
  { name: "ln_f.bias", dtype: "F16", shape: [3], begin: 64, end: 70 },
];
const DATA_BYTES = 70;

test("an encoded header parses to the same tensors", () => {
  const header = encodeSafetensorsHeader(SOUND);
  expect(header.length % 8).toBe(0);
  for (const fileBytes of [header.length + DATA_BYTES, null]) {
    expect(parseSafetensorsHeader(header, fileBytes, FILE)).toEqual({
      entries: SOUND,
      dataBegin: header.length,
      fileBytes: header.length + DATA_BYTES,
    });
  }
});

/** Wrong values for any field. */
const ODD_NUMBERS: readonly unknown[] = [-1, 0, 1.5, 2, 3, 12, 47, 48, 49, 64, 70, 71, 2 ** 31, 2 ** 53, 1e308];
const ODD_TEXTS: readonly unknown[] = ["", "F32", "F64", "toString", "x".repeat(5000)];
const ODD_SHAPES: readonly unknown[] = [null, true, {}, { shape: [4] }, [], [0, 48], [48, 0], [0, 2 ** 53], [[4], [3]]];
const odd = fc.constantFrom(...ODD_NUMBERS, ...ODD_TEXTS, ...ODD_SHAPES);
const aField = fc.constantFrom("dtype", "shape", "data_offsets");
const aName = fc.constantFrom(...SOUND.map((tensor) => tensor.name));

/** A change to the header's JSON. */
const lie = fc.oneof(
  fc.record({ name: aName, value: odd }).map(({ name, value }) => (header: Header) => ({ ...header, [name]: value })),
  fc.record({ name: fc.string(), value: odd }).map(({ name, value }) => (header: Header) => ({
    ...header,
    [name]: value,
  })),
  fc
    .record({ name: aName, field: aField, value: odd })
    .map(({ name, field, value }) => change(name, () => ({ [field]: value }))),
  fc
    .record({ name: aName, at: fc.nat(3), field: fc.constantFrom("shape", "data_offsets"), value: odd })
    .map(({ name, at, field, value }) =>
      change(name, (entry) => ({
        [field]: (entry[field] as unknown[] | undefined)?.with?.(
          Math.min(at, ((entry[field] as unknown[]).length || 1) - 1),
          value,
        ),
      })),
    ),
  aName.map((gone) => (header: Header) => Object.fromEntries(Object.entries(header).filter(([key]) => key !== gone))),
);

type Header = Record<string, unknown>;

function change(name: string, to: (entry: Record<string, unknown>) => object) {
  return (header: Header): Header => {
    const entry = header[name];
    if (typeof entry !== "object" || entry === null) return header;
    try {
      return { ...header, [name]: { ...entry, ...to(entry as Record<string, unknown>) } };
    } catch {
      return header; // an earlier lie removed what this one would change
    }
  };
}

test("10,000 lying headers are refused with the file's name, or describe tensors that exist", () => {
  const sound = JSON.parse(new TextDecoder().decode(encodeSafetensorsHeader(SOUND).subarray(8))) as Header;
  fc.assert(
    fc.property(
      fc.array(lie, { minLength: 1, maxLength: 3 }),
      fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { freq: 10 }),
      fc.option(fc.nat(200), { freq: 4 }),
      (lies, length, cut) => {
        const text = new TextEncoder().encode(JSON.stringify(lies.reduce((header, notify) => notify(header), sound)));
        const bytes = new Uint8Array(8 + text.length);
        new DataView(bytes.buffer).setBigUint64(0, length ?? BigInt(text.length), true);
        bytes.set(text, 8);
        const fileBytes = bytes.length + DATA_BYTES - (cut ?? 0);
        try {
          const { entries, dataBegin } = parseSafetensorsHeader(bytes, fileBytes, FILE);
          const covered = entries.reduce((sum, { begin, end }) => sum + end - begin, 0);
          expect(dataBegin + covered).toBe(fileBytes);
        } catch (error) {
          if (!(error instanceof ChorusError)) throw error;
          expect(error).toMatchObject({ code: "model_invalid", param: FILE });
          expect(error.message.length).toBeLessThan(1000);
        }
      },
    ),
    { numRuns: 10_000 },
  );
});

test("a header that ends behind the file's end is refused, by as little as a byte", () => {
  const header = encodeSafetensorsHeader(SOUND);
  for (const fileBytes of [header.length - 1, header.length - 8]) {
    const message = `its header is ${header.length - 8} bytes long, but the file ends after ${fileBytes} bytes`;
    expect(() => headerEnd(header, fileBytes, FILE)).toThrow(message);
  }
  expect(headerEnd(header, header.length, FILE)).toBe(header.length);
});

test("a header nested deeper than any stack is refused", () => {
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const text = new TextEncoder().encode(`{"w":{"dtype":"F32","shape":${deep},"data_offsets":[0,4]}}`);
  const bytes = new Uint8Array(8 + text.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  expect(() => parseSafetensorsHeader(bytes, null, FILE)).toThrow(
    expect.objectContaining({ code: "model_invalid", param: FILE }),
  );
});

test.each([
  ["version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "it is a Git LFS pointer"],
  ["<!DOCTYPE html><html><body>Sign in</body></html>", "it is a web page"],
  ["\n<html><body>Sign in</body></html>", "it is a web page"],
])("%j in place of weights is named as what it is", (text, part) => {
  const bytes = new TextEncoder().encode(text);
  expect(() => parseSafetensorsHeader(bytes, bytes.length, "model.safetensors")).toThrow(part);
});
