import type { OpenedBackend } from "../../backends/backend.ts";
import { CONFIG_FILE } from "../../files/model-folder.ts";
import { describeModel } from "../../models/families.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import { checkFits } from "./check-fits.ts";
import { configFor, draftDtype } from "./config-for.ts";
import { describeDraftModel } from "./draft-model.ts";
import type { LoadGuard } from "./load-guard.ts";
import type { ModelOrigin } from "./model-origin.ts";

export type DescribedModel = Awaited<ReturnType<typeof describe>>;

/**
 * Reads what a model is, and checks that its weights and cache fit, before anything large is fetched.
 * @throws ChorusError that names the file or field
 */
export async function describe(backend: OpenedBackend, origin: ModelOrigin, config: EngineConfig, guard: LoadGuard) {
  const { files, fetchFiles } = await origin.open(guard.reportFile, guard.signal);
  const configJson = await files.readJson(CONFIG_FILE);
  const model = describeModel(configJson);
  const drafting = await describeDraftModel(config, origin, guard);
  const defaults = backend.defaults(model);
  const requested = configFor(model, config, backend, drafting?.model);
  checkFits(backend, model, requested, config);
  if (drafting) {
    const dtype = draftDtype(drafting.model, requested.dtype);
    checkFits(backend, drafting.model, { ...requested, dtype }, config);
    await drafting.checkTokens(files);
  }
  const defaultBatchedTokens = defaults.maxNumBatchedTokens ?? null;
  return { configJson, model, frame: origin.chatFrame, drafting, defaultBatchedTokens, fetchFiles };
}
