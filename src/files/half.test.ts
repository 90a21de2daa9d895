import { describe, expect, test } from "vitest";
import { halfByDefinition } from "../../tests/references/half-by-definition.ts";
import { bfloat16ToFloat32, float16ToFloat32, float32ToFloat16 } from "./half.ts";

const allBits = Uint16Array.from({ length: 65536 }, (_, bits) => bits);
const isNaNHalf = (bits: number) => (bits & 0x7c00) === 0x7c00 && (bits & 0x3ff) !== 0;

describe("float16", () => {
  test("all 65,536 halves have the value the format defines", () => {
    const floats = float16ToFloat32(allBits);
    for (const bits of allBits) {
      if (!Object.is(floats[bits], halfByDefinition(bits))) expect.fail(`${bits}: ${floats[bits]}`);
    }
  });

  test("all 65,536 halves survive a round trip through float32", () => {
    const back = float32ToFloat16(float16ToFloat32(allBits));
    for (const bits of allBits) {
      const right = isNaNHalf(bits) ? isNaNHalf(back[bits] as number) : back[bits] === bits;
      if (!right) expect.fail(`${bits} became ${back[bits]}`);
    }
  });

  test("a value between two neighbouring halves rounds to the nearer one, and a tie to the even one", () => {
    // Every pair of finite neighbours of either sign, and the pair (65504, infinity), whose tie is 65520.
    for (let low = 0; low < 0x7c00; low++) {
      const below = halfByDefinition(low);
      const above = low === 0x7bff ? 65536 : halfByDefinition(low + 1);
      const middle = (below + above) / 2;
      const justBelow = new Float32Array([middle]);
      const justAbove = new Float32Array([middle]);
      new Uint32Array(justBelow.buffer)[0]! -= 1;
      new Uint32Array(justAbove.buffer)[0]! += 1;
      const floats = Float32Array.of(justBelow[0]!, middle, justAbove[0]!, -justBelow[0]!, -middle, -justAbove[0]!);
      const even = low % 2 === 0 ? low : low + 1;
      const expected = [low, even, low + 1, low | 0x8000, even | 0x8000, (low + 1) | 0x8000];
      const got = [...float32ToFloat16(floats)];
      if (got.some((bits, i) => bits !== expected[i]))
        expect.fail(`between ${low} and ${low + 1}: ${got} not ${expected}`);
    }
  });

  test("values too large become infinity, too small zero, and NaN stays NaN", () => {
    const floats = Float32Array.of(1e6, -1e6, Infinity, -Infinity, 1e-30, -1e-30, 2 ** -149, 0, -0, NaN);
    expect([...float32ToFloat16(floats)]).toEqual([0x7c00, 0xfc00, 0x7c00, 0xfc00, 0, 0x8000, 0, 0, 0x8000, 0x7e00]);
  });

  test("a view into a larger buffer is converted from its own offset", () => {
    const floats = Float32Array.of(1, 2, 3).subarray(1);
    expect([...float32ToFloat16(floats)]).toEqual([0x4000, 0x4200]);
  });
});

test("a bfloat16 is the upper half of a float32", () => {
  const floats = Float32Array.of(1, -2.5, 3.140625, Infinity, 0);
  const bits = new Uint32Array(floats.buffer);
  expect(bfloat16ToFloat32(Uint16Array.from(bits, (b) => b >>> 16))).toEqual(floats);
});
