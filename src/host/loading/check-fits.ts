import type { OpenedBackend } from "../../backends/backend.ts";
import type { Model } from "../../models/model.ts";
import type { EngineConfig, ResolvedEngineConfig } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";

/**
 * Checks that a model's weights and cache fit a backend.
 * @param numGpuBlocks as it was given: a cache that is too large is then its fault, not that of kvCacheBytes
 * @throws ChorusError that names the field
 */
export function checkFits(
  backend: OpenedBackend,
  model: Model,
  engine: ResolvedEngineConfig,
  { numGpuBlocks }: EngineConfig,
): void {
  try {
    backend.checkFits(model, engine);
  } catch (error) {
    const isCaches = error instanceof ChorusError && error.param === "kvCacheBytes";
    if (!isCaches || (numGpuBlocks ?? null) === null) throw error;
    throw new ChorusError(error.code, error.message, "numGpuBlocks");
  }
}
