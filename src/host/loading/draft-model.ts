// A small model that drafts for a large one (`speculation: { method: "draft_model", ... }`): found and checked before
// anything large is fetched, and loaded beside the other by the same backend.

import type { LoadedRunner, LoadOptions, OpenedBackend } from "../../backends/backend.ts";
import { CONFIG_FILE, TOKENIZER_FILE } from "../../files/model-folder.ts";
import type { ModelFiles } from "../../files/model-files.ts";
import { openCheckpoint } from "../../files/open-checkpoint.ts";
import { loadTokenizer, type ModelTokenizer } from "../../files/tokenizer.ts";
import { describeModel } from "../../models/families.ts";
import type { Model } from "../../models/model.ts";
import { openWeights, type ModelWeights } from "../../models/model-weights.ts";
import type { EngineConfig, ModelSource, ResolvedEngineConfig } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { MAX_DRAFT_LENGTH } from "../../protocol/step-sizes.ts";
import { draftDtype } from "./config-for.ts";
import type { LoadGuard } from "./load-guard.ts";
import type { ModelOrigin } from "./model-origin.ts";

const PARAM = "speculation.model";

/** A draft model whose weights were not read yet. */
export interface DescribedDraftModel {
  readonly model: Model;
  /** @throws ChorusError model_unsupported if its tokens are not those of the model that it drafts for */
  checkTokens(target: ModelFiles): Promise<void>;
  fetchWeights(): Promise<ModelWeights>;
}

/**
 * Returns the draft model that a config asks for; null if it asks for none.
 * @param origin where the model that it drafts for is loaded from
 * @throws ChorusError model_*, invalid_*, naming the file or field
 */
export async function describeDraftModel(
  { speculation }: EngineConfig,
  origin: ModelOrigin,
  guard: LoadGuard,
): Promise<DescribedDraftModel | null> {
  if (speculation?.method !== "draft_model") return null;
  return ofDraftModel(async () => {
    const opened = await originOf(speculation.model, origin).open(guard.reportFile, guard.signal);
    const configJson = await opened.files.readJson(CONFIG_FILE);
    const model = describeModel(configJson);
    if (model.shape.states) {
      const message = `A model of the type ${model.family} can't draft: it keeps a state, which can't go back by single tokens.`;
      throw new ChorusError("model_unsupported", message, PARAM);
    }
    return {
      model,
      async checkTokens(target) {
        const [own, others] = await Promise.all([
          ofDraftModel(() => loadTokenizer(opened.files)),
          loadTokenizer(target),
        ]);
        checkSameTokens(own, others);
      },
      fetchWeights: () =>
        ofDraftModel(async () => {
          const checkpoint = await openCheckpoint(await opened.fetchFiles(), { config: configJson });
          return openWeights(checkpoint, (vocabSize) => describeModel(configJson, vocabSize));
        }),
    };
  });
}

/** Two models are loaded: an error must say which one it means. */
async function ofDraftModel<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof ChorusError) || error.param === PARAM) throw error;
    throw new ChorusError(error.code, `The draft model: ${error.message}`, PARAM);
  }
}

/**
 * Loads a draft model's weights, with a cache of as many blocks as the other model has.
 * @param vocabSize tokens that both models have
 */
export async function loadDraftModel(
  backend: OpenedBackend,
  weights: ModelWeights,
  engine: ResolvedEngineConfig,
  options: Pick<LoadOptions, "vocabSize" | "onKernel" | "kernels" | "draws">,
): Promise<{ readonly runner: LoadedRunner; readonly maxLength: number }> {
  const maxLength = Math.min(engine.maxModelLen, weights.model.shape.maxPositions);
  const dtype = draftDtype(weights.model, engine.dtype);
  const own: ResolvedEngineConfig = { ...engine, dtype, maxModelLen: maxLength, logprobsMode: "raw_logprobs" };
  // The steps of a draft are submitted at once, and update() may ask for the longest.
  const runner = await backend.load({ ...options, weights, engine: own, maxStepsInFlight: MAX_DRAFT_LENGTH });
  return { runner, maxLength };
}

function originOf(model: unknown, target: ModelOrigin): ModelOrigin {
  try {
    return target.beside(model as ModelSource);
  } catch (error) {
    if (!(error instanceof ChorusError) || error.param !== "model") throw error;
    throw new ChorusError(error.code, `speculation.${error.message}`, PARAM);
  }
}

function checkSameTokens(draft: ModelTokenizer, target: ModelTokenizer): void {
  const wrong = (what: string) => {
    const message = `The draft model's ${TOKENIZER_FILE} ${what}. A draft model must have the same tokens.`;
    return new ChorusError("model_unsupported", message, PARAM);
  };
  if (draft.vocabSize !== target.vocabSize) {
    throw wrong(`has ${draft.vocabSize} tokens, and the model that it drafts for has ${target.vocabSize}`);
  }
  for (let id = 0; id < target.vocabSize; id++) {
    const [own, other] = [draft.tokenText(id), target.tokenText(id)];
    if (own === other) continue;
    throw wrong(`has ${JSON.stringify(own)} as token ${id}, and the model that it drafts for ${JSON.stringify(other)}`);
  }
}
