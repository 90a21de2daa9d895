import { expect, it, vi } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { OpenedBackend } from "../../backends/backend.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { readFixture } from "../../../tests/models/fixtures.ts";
import type { Platform } from "../platforms/platform.ts";
import { memoryTuningStore } from "../platforms/tuning-store.ts";
import type { FetchedModel } from "./fetch.ts";
import { LoadGuard } from "./load-guard.ts";
import type { LoadedIntoMemory } from "./load-into-memory.ts";
import { verify } from "./verify.ts";

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
