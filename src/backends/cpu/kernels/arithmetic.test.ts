import { describe, expect, it } from "vitest";

import { allowRelaxedSimd, expectNear } from "../../../../tests/cpu/cpu.ts";
import { float32ToFloat16 } from "../../../files/half.ts";
import { geluErfReference, geluTanhReference } from "../../../../tests/references/reference.ts";
import type { FunctionBuilder } from "../wasm/function-builder.ts";
import { v128 } from "../wasm/instructions.ts";
import { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Vector } from "../wasm/value.ts";
import type { CpuMath } from "../../../protocol/config.ts";
import { Arithmetic, FORBIDDEN } from "./arithmetic.ts";
import { toHalves } from "./halves.ts";

allowRelaxedSimd();

type Vectors = (math: Arithmetic, f: FunctionBuilder, x: Vector) => Vector;

const PAGES = 64;

/** A function of vectors, over an array. */
async function apply(math: CpuMath, compute: Vectors, inputs: Float32Array): Promise<Float32Array> {
  const module = new ModuleBuilder({ isShared: false, pages: PAGES });
  module.function("run", "end: i32", (f, { end }) => {
    const x = f.v128();
    f.for(0, end, 16, (i) => {
      x.set(v128.load(i));
      f.storeV128(i, compute(new Arithmetic(math), f, x));
    });
  });
  const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
  const { instance } = await WebAssembly.instantiate(module.finish(), { env: { memory } });
  const values = new Float32Array(memory.buffer);
  values.set(inputs);
  (instance.exports["run"] as (end: number) => void)(4 * Math.ceil(inputs.length / 4) * 4);
  return values.slice(0, inputs.length);
}

function range(from: number, to: number, count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));
}

function worstRelative(actual: Float32Array, expected: (x: number) => number, inputs: Float32Array): number {
  return inputs.reduce((worst, x, i) => Math.max(worst, Math.abs((actual[i] ?? NaN) / expected(x) - 1)), 0);
}

describe.each(["portable", "fastest"] as const)("%s", (math) => {
  it("exp is within 2e-7 where f32 has all its bits", async () => {
    const x = range(-87.3, 88, 100_001);
    expect(worstRelative(await apply(math, (a, f, v) => a.exp(f, v), x), Math.exp, x)).toBeLessThan(2e-7);
  });

  it("exp is 0 below, and finite above", async () => {
    const [low, lowest, high] = await apply(math, (a, f, v) => a.exp(f, v), Float32Array.of(-87.4, FORBIDDEN, 1e30));
    expect([low, lowest]).toEqual([0, 0]);
    expect(high).toBe((await apply(math, (a, f, v) => a.exp(f, v), Float32Array.of(88)))[0]);
  });

  it("log is within 2e-7, relative, also near 1", async () => {
    const wide = Float32Array.from(range(-80, 80, 50_001), (x) => Math.exp(x));
    const near = Float32Array.from({ length: 50_000 }, (_, i) => 1 - (i + 1) * 2 ** -24);
    for (const x of [wide, near]) {
      const y = await apply(
        math,
        (a, f, v) => a.log(f, v),
        x.filter((value) => value !== 1),
      );
      expect(
        worstRelative(
          y,
          Math.log,
          x.filter((value) => value !== 1),
        ),
      ).toBeLessThan(2e-7);
    }
  });

  it.each<[string, Vectors, (x: number) => number]>([
    ["silu", (a, f, v) => a.silu(f, v), (x) => x / (1 + Math.exp(-x))],
    ["geluTanh", (a, f, v) => a.geluTanh(f, v), geluTanhReference],
    ["geluErf", (a, f, v) => a.geluErf(f, v), geluErfReference],
    ["capped", (a, f, v) => a.capped(f, v, 1), Math.tanh],
  ])("%s is within 3e-7 of the larger of 1 and its argument", async (_, compute, reference) => {
    const x = range(-60, 60, 60_001);
    expectNear(await apply(math, compute, x), Float64Array.from(x, reference), 3e-7);
  });
});

it("rounds to halves as the files' converter does, of every kind of number", async () => {
  const bits = Uint32Array.from({ length: 60_000 }, (_, i) => Math.imul(i, 71_583) >>> 0);
  const edges = Float32Array.of(
    65504,
    65519.99,
    65520,
    65536,
    Infinity,
    -Infinity,
    2 ** -24,
    2 ** -25,
    0,
    -0,
    2049,
    2051,
  );
  const inputs = new Float32Array([...new Float32Array(bits.buffer).filter((x) => !Number.isNaN(x)), ...edges]);
  const halves = await apply("portable", (_, f, v) => toHalves(f, v), inputs);
  expect(new Uint32Array(halves.buffer)).toEqual(Uint32Array.from(float32ToFloat16(inputs)));
});
