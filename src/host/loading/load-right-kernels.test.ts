import { expect, it } from "vitest";

import type { KernelChoice } from "../../backends/backend.ts";
import { loadRightKernels } from "./load-right-kernels.ts";
import type { LoadedIntoMemory } from "./load-into-memory.ts";

function attempts(faults: Partial<Record<KernelChoice, string | Error>>) {
  const held = new Set<string>();
  let last: KernelChoice | null = null;
  const load = (kernels: KernelChoice) => {
    held.add((last = kernels));
    const dispose = () => {
      if (!held.delete(kernels)) throw new Error("given back twice");
    };
    const runner = { adapterName: "GPU", dispose };
    return Promise.resolve({ runner } as unknown as LoadedIntoMemory);
  };
  const check = async () => {
    const fault = (last && faults[last]) ?? null;
    if (fault instanceof Error) throw fault;
    return fault;
  };
  return { held, loaded: loadRightKernels(load, check) };
}

it("keeps the default kernels if their answers are right", async () => {
  const { loaded, held } = attempts({});
  expect(await loaded).toMatchObject({ notice: null });
  expect([...held]).toEqual(["default"]);
});

it("keeps plainer ones if only those are right, and says so", async () => {
  const { loaded, held } = attempts({ default: "off by 3" });
  expect((await loaded).notice).toContain("GPU computes wrong answers with its default kernels (off by 3)");
  expect([...held]).toEqual(["plain"]);
});

it.each([
  ["no kernels are right", { default: "off", plain: "off" }, { code: "wrong_answers" }],
  ["a check fails", { default: new Error("lost") }, { message: "lost" }],
])("holds nothing if %s", async (_what, faults, error) => {
  const { loaded, held } = attempts(faults);
  await expect(loaded).rejects.toMatchObject(error);
  expect([...held]).toEqual([]);
});
