import { tilesKey } from "../../src/backends/gpu/attention-tuning.ts";
import type { KernelTraits } from "../../src/backends/gpu/kernel-style.ts";
import { tuningKey } from "../../src/backends/gpu/matmul-tuning.ts";
import { defaultMatmuls } from "../../src/backends/gpu/matmul-variants.ts";
import { tileChoices } from "../../src/backends/gpu/query-tiles.ts";
import { indexedDbTuningStore } from "../../src/host/platforms/tuning-store.ts";
import type { Model } from "../../src/models/model.ts";
import type { WeightsDtype } from "../../src/protocol/config.ts";
import { PRETENDED_ADAPTER } from "./tampered-gpu.ts";

/** Stores the default kernels of GPUs as the fastest: measuring them takes a software adapter minutes. */
export async function skipTuning(model: Model, dtype: WeightsDtype, hasSubgroups: boolean): Promise<void> {
  const traits: KernelTraits = { style: "fused", hasSubgroups };
  const key = tuningKey(PRETENDED_ADAPTER, model, dtype);
  const store = indexedDbTuningStore();
  await store.save(
    key,
    defaultMatmuls(traits).map(({ name }) => name),
  );
  await store.save(tilesKey(key), [tileChoices(traits, model.shape)[0].name]);
}
