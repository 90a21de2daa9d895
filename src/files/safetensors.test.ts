import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ChorusError } from "../protocol/errors.ts";
import { openSafetensors, type SafetensorsFile } from "./safetensors.ts";
import { readF32 } from "./tensor.ts";

/** Returns a file with this header (an object or raw text) and this many bytes of data: 0, 1, 2, ... */
function file(header: object | string, dataBytes: number): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.length + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  for (let i = 0; i < dataBytes; i++) bytes[8 + text.length + i] = i;
  return bytes;
}

const open = (bytes: Uint8Array<ArrayBuffer>): Promise<SafetensorsFile> => openSafetensors(new Blob([bytes]));
const floats = async (checkpoint: SafetensorsFile, name: string) => [...(await readF32(checkpoint.tensor(name)))];

async function refusal(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  try {
    await open(bytes);
  } catch (error) {
    if (error instanceof ChorusError && error.code === "model_invalid") return error.message;
    throw error;
  }
  return expect.fail("the file was accepted");
}

const tensor = (dtype: string, shape: number[], begin: number, end: number) => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

describe("a valid file", () => {
  test("gives names, shapes and values of F32, F16 and BF16 at any offset", async () => {
    const header = {
      __metadata__: { format: "pt", 'odd " {key': '"b": {' },
      mask: tensor("BOOL", [1, 1], 0, 1),
      half: tensor("F16", [2], 1, 5),
      brain: tensor("BF16", [2, 1], 5, 9),
      full: tensor("F32", [], 9, 13),
      none: tensor("F32", [0, 4], 13, 13),
    };
    const bytes = file(header, 13);
    const data = bytes.length - 13;
    const view = new DataView(bytes.buffer);
    view.setUint16(data + 1, 0x3c00, true);
    view.setUint16(data + 3, 0xc100, true);
    view.setUint16(data + 5, 0x3f80, true);
    view.setUint16(data + 7, 0xc020, true);
    view.setFloat32(data + 9, 0.1, true);
    const checkpoint = await open(bytes);
    expect(checkpoint.names()).toEqual(["mask", "half", "brain", "full", "none"]);
    expect(checkpoint.has("full")).toBe(true);
    expect(checkpoint.has("__metadata__")).toBe(false);
    expect(checkpoint.shape("brain")).toEqual([2, 1]);
    expect(await floats(checkpoint, "half")).toEqual([1, -2.5]);
    expect(await floats(checkpoint, "brain")).toEqual([1, -2.5]);
    expect(await floats(checkpoint, "full")).toEqual([Math.fround(0.1)]);
    expect(await floats(checkpoint, "none")).toEqual([]);
  });

  test("may hold tensors of unsupported types, which throw only when they are read", async () => {
    const checkpoint = await open(file({ mask: tensor("U8", [2], 0, 2), odd: tensor("F4", [4], 2, 4) }, 4));
    expect(() => checkpoint.tensor("mask")).toThrow(/"mask" is stored as U8/);
    expect(() => checkpoint.tensor("odd")).toThrow(/"odd" is stored as F4/);
    expect(() => checkpoint.tensor("absent")).toThrow(/no tensor "absent"/);
  });
});

describe("a broken file is refused with a reason", () => {
  test.each([
    ["no header length", new Uint8Array(5), "5 bytes"],
    ["an absurd header length", new Uint8Array(16).fill(255), "header would be"],
    ["a header beyond the file", file({}, 0).with(0, 200), "200 bytes long, but the file ends after 10"],
    ["a header that is not JSON", file("{nonsense", 0), "not JSON"],
    ["a header that is not an object", file("[]", 0), "not a JSON object"],
    ["an entry that is no object", file({ w: 3 }, 0), '"w" is described by 3'],
    ["no dtype", file({ w: { shape: [1], data_offsets: [0, 4] } }, 4), '"w" has dtype'],
    ["a negative size", file({ w: tensor("F32", [-1], 0, 4) }, 4), '"w" has shape [-1]'],
    ["a fractional size", file({ w: tensor("F32", [0.5], 0, 2) }, 2), '"w" has shape [0.5]'],
    ["offsets that are missing", file({ w: { dtype: "F32", shape: [1] } }, 4), '"w" has data_offsets'],
    ["offsets the wrong way round", file({ w: tensor("F32", [1], 4, 0) }, 4), '"w" has data_offsets [4,0]'],
    ["a size that is not the shape's", file({ w: tensor("F16", [2, 3], 0, 24) }, 24), "takes 12 bytes, but has 24"],
    ["data cut short", file({ w: tensor("F32", [2], 0, 8) }, 7), '"w" ends at byte 8'],
    ["an overlap", file({ a: tensor("U8", [3], 0, 3), b: tensor("U8", [3], 2, 5) }, 5), '"b" begins at byte 2'],
    [
      "a hole",
      file({ a: tensor("U8", [1], 0, 1), b: tensor("U8", [1], 2, 3) }, 3),
      'bytes 1 to 2 of the data, before tensor "b"',
    ],
    ["data after the last tensor", file({ a: tensor("U8", [1], 0, 1) }, 3), "2 bytes after the last tensor"],
    [
      "a tensor listed twice",
      file(
        '{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\\u0077":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
        1,
      ),
      'lists tensor "w" twice',
    ],
  ])("%s", async (_, bytes, part) => {
    expect(await refusal(bytes)).toContain(part);
  });

  test("a file cut anywhere is refused", async () => {
    const bytes = new Uint8Array(readFileSync("tests/fixtures/gpt2-tiny/model.safetensors"));
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length - 1 }), async (length) => {
        return (await refusal(bytes.subarray(0, length))) !== "";
      }),
    );
  });

  test("a header with changed bytes is refused by a ChorusError or leaves every tensor readable", async () => {
    const sound = file(
      { "h.0.w": tensor("F32", [2, 3], 0, 24), "h.0.b": tensor("F16", [4], 24, 32), m: tensor("BOOL", [8], 32, 40) },
      40,
    );
    const headerEnd = sound.length - 40;
    const change = fc.record({
      at: fc.nat({ max: headerEnd - 1 }),
      to: fc.oneof(fc.constantFrom(...new TextEncoder().encode('0123456789-.,:{}[]"eFU ')), fc.nat({ max: 255 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const bytes = sound.slice();
        for (const { at, to } of changes) bytes[at] = to;
        try {
          const checkpoint = await open(bytes);
          for (const name of checkpoint.names()) {
            const elements = checkpoint.shape(name).reduce((product, size) => product * size, 1);
            if ((await floats(checkpoint, name)).length !== elements) return false;
          }
          return true;
        } catch (error) {
          return error instanceof ChorusError && (error.code === "model_invalid" || error.code === "model_unsupported");
        }
      }),
      { numRuns: 5000 },
    );
  });
});
