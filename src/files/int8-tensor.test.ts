import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { weightsAsKept } from "../../tests/references/weights-as-kept.ts";
import { openSafetensors, type SafetensorsFile } from "./safetensors.ts";
import { encodeSafetensorsHeader } from "./safetensors-header.ts";
import { readF32 } from "./tensor.ts";

/** The values from which tools/train/test_pipeline.py made the fixture. */
function valuesOf(rows: number, columns: number): Float32Array {
  return Float32Array.from({ length: rows * columns }, (_, i) => (((i * 7919) % 1009) - 504) / 256);
}

function conv1dValues(): Float32Array {
  return valuesOf(70, 5).map((value, i) => (i % 5 === 3 && i >= 32 * 5 && i < 64 * 5 ? 0 : value));
}

const fixture = await openSafetensors(new Blob([new Uint8Array(readFileSync("tests/fixtures/int8.safetensors"))]));

describe("an int8 file of tools/train/export.py", () => {
  test("holds q8's values of a table, in groups along its rows", async () => {
    const expected = weightsAsKept(valuesOf(6, 45), 6, 45, "q8", { groupsAlong: "rows" });
    expect(await readF32(fixture.tensor("wte.weight"))).toEqual(expected);
  });

  test("holds q8's values of a Conv1D, in groups down its columns", async () => {
    const expected = weightsAsKept(conv1dValues(), 70, 5, "q8", { groupsAlong: "columns" });
    expect(await readF32(fixture.tensor("h.0.mlp.c_fc.weight"))).toEqual(expected);
  });

  test("keeps positions and biases in halves", async () => {
    expect(fixture.tensor("wpe.weight").dtype).toBe("F16");
    expect(await readF32(fixture.tensor("wpe.weight"))).toEqual(valuesOf(4, 45));
    expect(await readF32(fixture.tensor("h.0.mlp.c_fc.bias"))).toEqual(valuesOf(1, 5));
  });

  test("gives the same values in bands and whole", async () => {
    for (const name of ["wte.weight", "h.0.mlp.c_fc.weight"]) {
      const tensor = fixture.tensor(name);
      const whole = new Uint8Array((await readF32(tensor)).buffer);
      const middle = Math.floor(tensor.rows / 2);
      const bands = [await tensor.readRows(0, middle), await tensor.readRows(middle, tensor.rows)];
      expect(bands.flatMap((band) => [...band])).toEqual([...whole]);
    }
  });
});

describe("unreadable int8 is refused", () => {
  /** A checkpoint of zeros. */
  function zeros(tensors: Record<string, [dtype: string, shape: number[], bytes: number]>): Promise<SafetensorsFile> {
    const entries = Object.entries(tensors).map(([name, [dtype, shape, end]]) => ({
      name,
      dtype,
      shape,
      begin: 0,
      end,
    }));
    const bytes = entries.reduce((sum, { end }) => sum + end, 0);
    return openSafetensors(new Blob([encodeSafetensorsHeader(entries), new Uint8Array(bytes)]));
  }

  test.each([
    ["without its extremes", {}, /"w" is stored as I8, but there is no "w\.extremes"/],
    ["with extremes of no group", { "w.extremes": ["F16", [40, 40], 3200] }, /"w\.extremes" has shape \[40, 40\]/],
    ["with one extreme a row", { "w.extremes": ["F32", [40, 1], 160] }, /"w\.extremes" has shape \[40, 1\]/],
    ["with extremes in int8", { "w.extremes": ["I8", [2, 40], 80] }, /"w\.extremes" is stored as I8/],
  ] as const)("%s", async (_, extremes, message) => {
    const given = Object.entries(extremes).map(([name, [dtype, shape, bytes]]) => [name, [dtype, [...shape], bytes]]);
    const checkpoint = await zeros({ w: ["I8", [40, 40], 1600], ...Object.fromEntries(given) });
    expect(() => checkpoint.tensor("w")).toThrow(message);
  });
});
