import { expect, it } from "vitest";

import { f32, f32x4, i32, i32x4, v128 } from "./instructions.ts";
import { ModuleBuilder } from "./module-builder.ts";

type Exports = Readonly<Record<string, (...args: number[]) => number>>;

async function instantiate(define: (module: ModuleBuilder) => void, isShared = false) {
  const module = new ModuleBuilder({ isShared, pages: 1 });
  define(module);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: isShared });
  const { instance } = await WebAssembly.instantiate(module.finish(), { env: { memory } });
  return { exports: instance.exports as unknown as Exports, memory };
}

it("makes functions of named parameters, locals and loops", async () => {
  const { exports } = await instantiate((module) => {
    module.function("sum_below", "end: i32 -> i32", (f, { end }) => {
      const sum = f.i32(0);
      f.for(0, end, 1, (i) => f.increment(sum, i));
      f.return(sum);
    });
  });
  expect([0, 1, 2, 10, 1000].map((n) => exports["sum_below"]?.(n))).toEqual([0, 0, 1, 45, 499_500]);
});

it.each([0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, 2 ** 31 - 1, -(2 ** 31), 0x80000000 | 0])(
  "encodes the constant %i",
  async (value) => {
    const { exports } = await instantiate((module) => {
      module.function("constant", "x: i32 -> i32", (f) => f.return(i32.const(value)));
    });
    expect(exports["constant"]?.(0)).toBe(value);
  },
);

it("calls functions with their arguments by name", async () => {
  const { exports, memory } = await instantiate((module) => {
    const scale = module.function("scale", "at: i32, value factor: f32", (f, { at, value, factor }) => {
      f.storeF32(at, f32.div(value, factor));
    });
    module.function("half", "at: i32, x: f32", (f, { at, x }) => f.call(scale, { factor: 2, value: x, at }));
  });
  exports["half"]?.(64, 6);
  expect(new Float32Array(memory.buffer)[16]).toBe(3);
});

it("branches, and loops at least once or not at all", async () => {
  const { exports } = await instantiate((module) => {
    module.function("collatz", "n: i32 -> i32", (f, { n }) => {
      const steps = f.i32(0);
      f.while(i32.ne(n, 1), () => {
        f.if(
          i32.and(n, 1),
          () => n.set(i32.add(i32.mul(n, 3), 1)),
          () => n.set(i32.shrU(n, 1)),
        );
        f.increment(steps, 1);
      });
      f.return(steps);
    });
    module.function("rounds", "n: i32 -> i32", (f, { n }) => {
      const rounds = f.i32(0);
      f.doWhile(() => f.increment(rounds, 1), i32.ltU(rounds, n));
      f.return(rounds);
    });
  });
  expect([1, 2, 27].map((n) => exports["collatz"]?.(n))).toEqual([0, 1, 111]);
  expect([0, 1, 5].map((n) => exports["rounds"]?.(n))).toEqual([1, 1, 5]);
});

it("computes in four lanes", async () => {
  const { exports, memory } = await instantiate((module) => {
    module.function("run", "at: i32", (f, { at }) => {
      const x = f.v128(v128.load(at));
      f.storeV128(at, f32x4.add(f32x4.mul(x, 2), 1), 16);
      f.storeV128(at, i32x4.lanes(1, -2, 3, -4), 32);
      f.storeV128(at, v128.bitselect(x, f32x4.neg(x), f32x4.gt(x, 2)), 48);
      f.storeV128(at, i32x4.shuffle(x, f32x4.neg(x), [2, 3, 4, 7]), 64);
    });
  });
  const floats = new Float32Array(memory.buffer);
  floats.set([1, 2, 3, 4]);
  exports["run"]?.(0);
  expect([...floats.subarray(4, 8)]).toEqual([3, 5, 7, 9]);
  expect([...new Int32Array(memory.buffer, 32, 4)]).toEqual([1, -2, 3, -4]);
  expect([...floats.subarray(12, 16)]).toEqual([-1, -2, 3, 4]);
  expect([...floats.subarray(16, 20)]).toEqual([3, 4, -1, -4]);
});

it("adds, waits and wakes atomically in shared memory", async () => {
  const { exports, memory } = await instantiate((module) => {
    module.function("add", "at: i32 -> i32", (f, { at }) => f.return(i32.atomicAdd(at, 5)));
    module.function("wait", "at expected: i32 -> i32", (f, { at, expected }) => {
      f.return(i32.atomicWait(at, expected, 1000));
    });
    module.function("wake", "at: i32 -> i32", (f, { at }) => f.return(i32.atomicNotify(at, -1)));
  }, true);
  expect(exports["add"]?.(64)).toBe(0);
  expect(new Int32Array(memory.buffer)[16]).toBe(5);
  expect(exports["wait"]?.(64, 4)).toBe(1);
  expect(exports["wait"]?.(64, 5)).toBe(2);
  expect(exports["wake"]?.(64)).toBe(0);
});
