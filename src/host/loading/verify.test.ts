import { expect, it, vi } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { KernelChoice, OpenedBackend } from "../../backends/backend.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { readFixture } from "../../../tests/models/fixtures.ts";
import type { Platform } from "../platforms/platform.ts";
import { memoryTuningStore } from "../platforms/tuning-store.ts";
import type { FetchedModel } from "./fetch.ts";
import { LoadGuard } from "./load-guard.ts";
import type { LoadedIntoMemory } from "./load-into-memory.ts";
import { loadRightKernels, verify } from "./verify.ts";

it("does not blame the device for a damaged file: it asks it nothing before the weights are looked at", async () => {
  const weights = (await readFixture("gpt2-tiny")).weights();
  const { shape } = weights.model;
  const requested = resolveEngineConfig({ dtype: "f32", kvCacheDtype: "f32" }, shape);
  const platform = { tuning: memoryTuningStore(), runtime: "browser 1", reference: null } as unknown as Platform;
  const backend = { name: "webgpu", adapterName: "GPU" } as OpenedBackend;
  const id = vi.fn<() => Promise<string>>().mockResolvedValue("kernels");
  const dispose = vi.fn<() => void>();
  const runner = { adapterName: "GPU", kernels: { id }, dispose };
  const placed = Promise.resolve({ runner, engineConfig: requested } as unknown as LoadedIntoMemory);
  let refuse: (reason: Error) => void = () => undefined;
  const checking = new Promise<undefined>((_, reject) => (refuse = reject));
  const fetched = { weights, vocabSize: shape.vocabSize, checking } as unknown as FetchedModel;
  const guard = new LoadGuard(backend, () => undefined);

  const verified = verify(() => placed, backend, fetched, requested, platform, guard);
  await new Promise((resolve) => setTimeout(resolve));
  expect(id).not.toHaveBeenCalled();
  const damaged = new ChorusError("model_invalid", "The file is damaged.");
  refuse(damaged);
  await expect(verified).rejects.toBe(damaged);
  expect(dispose).toHaveBeenCalledOnce();
});

function attempts(faults: Partial<Record<KernelChoice, string | Error>>, refused: readonly KernelChoice[] = []) {
  const held = new Set<string>();
  let last: KernelChoice | null = null;
  const load = (kernels: KernelChoice) => {
    if (refused.includes(kernels)) return Promise.reject(new ChorusError("kernel_refused", `No ${kernels} one.`));
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

it("keeps plainer ones if the adapter refuses the default ones, and says so", async () => {
  const { loaded, held } = attempts({}, ["default"]);
  expect((await loaded).notice).toMatch(/^Some of the default kernels can't be used.* No default one\.$/);
  expect([...held]).toEqual(["plain"]);
  await expect(attempts({}, ["default", "plain"]).loaded).rejects.toMatchObject({ code: "kernel_refused" });
});

it.each([
  ["no kernels are right", { default: "off", plain: "off" }, { code: "wrong_answers" }],
  ["a check fails", { default: new Error("lost") }, { message: "lost" }],
])("holds nothing if %s", async (_what, faults, error) => {
  const { loaded, held } = attempts(faults);
  await expect(loaded).rejects.toMatchObject(error);
  expect([...held]).toEqual([]);
});
