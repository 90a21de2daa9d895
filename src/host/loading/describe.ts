import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { OpenedBackend } from "../../backends/backend.ts";
import { CONFIG_FILE } from "../../files/model-folder.ts";
import { describeModel } from "../../models/families.ts";
import { CATALOGUE, type ChatFrame } from "../../protocol/catalogue.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import type { ModelLocation } from "../../protocol/model-source.ts";
import type { Platform } from "../platforms/platform.ts";
import { checkFits } from "./check-fits.ts";
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
  const frame = chatFrameOf(location);
  const { files, fetchFiles } = await openModel(location, platform, guard.reportFile, guard.signal);
  const configJson = await files.readJson(CONFIG_FILE);
  const model = describeModel(configJson);
  const drafting = await describeDraftModel(config, location, platform, guard.reportFile, guard.signal);
  const defaults = backend.defaults(model);
  const requested = resolveEngineConfig(config, model.shape, defaults, drafting?.model.shape);
  checkFits(backend, model, requested, config);
  if (drafting) {
    checkFits(backend, drafting.model, requested, config);
    await drafting.checkTokens(files);
  }
  const defaultBatchedTokens = defaults.maxNumBatchedTokens ?? null;
  return { configJson, model, frame, drafting, requested, defaultBatchedTokens, fetchFiles };
}

function chatFrameOf(location: ModelLocation): ChatFrame | null {
  return CATALOGUE.find(({ model }) => location.type === "hub" && model === location.id)?.chatFrame ?? null;
}
