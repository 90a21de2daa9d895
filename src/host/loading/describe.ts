import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { OpenedBackend } from "../../backends/backend.ts";
import { CONFIG_FILE } from "../../files/model-folder.ts";
import { describeModel } from "../../models/families.ts";
import type { Model } from "../../models/model.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { ModelLocation } from "../../protocol/model-source.ts";
import type { Platform } from "../platforms/platform.ts";
import { describeDraftModel } from "./draft-model.ts";
import type { LoadGuard } from "./load-guard.ts";
import { openModel } from "./open-model.ts";

export type DescribedModel = Awaited<ReturnType<typeof describe>>;

/**
 * Reads what a model is, and checks that its weights and cache fit, before anything large is fetched.
 * @throws ChorusError that names the file or field
 */
export async function describe(
  backend: OpenedBackend,
  location: ModelLocation,
  config: EngineConfig,
  platform: Platform,
  guard: LoadGuard,
) {
  const folder = await openModel(location, platform, guard.reportFile, guard.signal);
  const configJson = await folder.files.readJson(CONFIG_FILE);
  const model = describeModel(configJson);
  const drafting = await describeDraftModel(config, location, platform, guard.reportFile, guard.signal);
  const defaults = backend.defaults(model);
  const requested = resolveEngineConfig(config, model.shape, defaults, drafting?.model.shape);
  const checkFits = (one: Model) => blamingBlocks(config, () => backend.checkFits(one, requested));
  checkFits(model);
  if (drafting) {
    checkFits(drafting.model);
    await drafting.checkTokens(folder.files);
  }
  const defaultBatchedTokens = defaults.maxNumBatchedTokens ?? null;
  return { configJson, model, drafting, requested, defaultBatchedTokens, fetchFiles: () => folder.fetch() };
}

/** The cache's size may have been given in blocks: then a cache that is too large is that field's fault. */
function blamingBlocks({ numGpuBlocks }: EngineConfig, check: () => void): void {
  try {
    check();
  } catch (error) {
    const isCaches = error instanceof ChorusError && error.param === "kvCacheBytes";
    if (!isCaches || (numGpuBlocks ?? null) === null) throw error;
    throw new ChorusError(error.code, error.message, "numGpuBlocks");
  }
}
