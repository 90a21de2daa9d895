import { createChatFormat, type ChatFormat } from "../api/chat-format.ts";
import { resolveEngineConfig } from "../api/engine-config.ts";
import { openDevice, type OpenedDevice } from "../backends/gpu/device.ts";
import { checkFits } from "../backends/gpu/gpt2-memory.ts";
import { Gpt2Runner } from "../backends/gpu/gpt2-runner.ts";
import { usualDtype } from "../backends/gpu/usual-dtype.ts";
import { parseGpt2Config } from "../models/gpt2/gpt2-config.ts";
import { loadGenerationDefaults, type GenerationDefaults } from "../files/generation-config.ts";
import { loadGpt2Weights } from "../models/gpt2/gpt2-weights.ts";
import { openCheckpoint } from "../files/open-checkpoint.ts";
import { CONFIG_FILE, TOKENIZER_FILE } from "../files/model-folder.ts";
import { loadTokenizer, type ModelTokenizer } from "../files/tokenizer.ts";
import { CATALOGUE, type ChatFrame } from "../protocol/catalogue.ts";
import type { EngineConfig, ResolvedEngineConfig } from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { ModelLocation } from "../protocol/model-source.ts";
import type { LoadProgress, ModelCard } from "../protocol/reports.ts";
import { openModel } from "./open-model.ts";
import { openTuningStore } from "./tuning-store.ts";

/** Embeddings are padded to a multiple of at most this. */
const LARGEST_PADDING = 1024;

/** A model ready to run: on the GPU, with everything its requests need. */
export interface LoadedModel {
  readonly card: ModelCard;
  readonly tokenizer: ModelTokenizer;
  readonly chatFormat: ChatFormat;
  readonly defaults: GenerationDefaults;
  readonly engineConfig: ResolvedEngineConfig;
  readonly opened: OpenedDevice;
  readonly runner: Gpt2Runner;
}

/** From a folder to the GPU. Throws a ChorusError that names the file or field, and then holds nothing. */
export async function loadModel(
  location: ModelLocation,
  config: EngineConfig,
  gpu: GPU | undefined,
  onProgress: (progress: LoadProgress) => void,
): Promise<LoadedModel> {
  // Before any download: without a GPU none is needed.
  const opened = await openDevice(gpu);
  try {
    onProgress({ stage: "adapter", done: 1, total: 1, detail: opened.adapterName });
    const model = await openModel(location, onProgress);
    const modelConfig = parseGpt2Config(await model.files.readJson(CONFIG_FILE));
    const engineConfig = resolveEngineConfig(config, modelConfig, usualDtype(modelConfig, opened));
    checkFits(modelConfig, engineConfig, opened.device.limits);
    const files = await model.fetch();
    const defaults = await loadGenerationDefaults(files, modelConfig.eosTokenIds);
    const [tokenizer, checkpoint] = await Promise.all([
      loadTokenizer(files, defaults.eosTokenIds),
      openCheckpoint(files),
    ]);
    const frame = chatFrameOf(location);
    const chatFormat = createChatFormat(tokenizer, frame);
    const weights = loadGpt2Weights(checkpoint, modelConfig);
    checkTokenizer(tokenizer.vocabSize, weights.config.vocabSize);
    const runner = await Gpt2Runner.create({
      opened,
      weights,
      engine: engineConfig,
      onKernel: (done, total) => onProgress({ stage: "kernels", done, total }),
      tuning: openTuningStore(),
    });
    const { numGpuBlocks } = engineConfig;
    onProgress({ stage: "cache", done: numGpuBlocks, total: numGpuBlocks, detail: `${numGpuBlocks} blocks` });
    const card: ModelCard = {
      name: files.name,
      numParameters: weights.numParameters,
      weightBytes: runner.weightBytes,
      contextLength: engineConfig.maxModelLen,
      vocabSize: weights.config.vocabSize,
      numLayers: modelConfig.nLayer,
      dtype: engineConfig.dtype,
      kvCacheDtype: engineConfig.kvCacheDtype,
      numGpuBlocks,
      blockSize: engineConfig.blockSize,
      adapter: opened.adapterName,
      chat: tokenizer.chatTemplate !== null || frame !== null,
      readsSystemPrompt: chatFormat.readsSystemPrompt,
      defaults: {
        temperature: defaults.temperature,
        top_p: defaults.topP,
        top_k: defaults.topK,
        min_p: defaults.minP,
        repetition_penalty: defaults.repetitionPenalty,
      },
    };
    return { card, tokenizer, chatFormat, defaults, engineConfig, opened, runner };
  } catch (error) {
    opened.device.destroy();
    throw error;
  }
}

function chatFrameOf(location: ModelLocation): ChatFrame | null {
  return CATALOGUE.find(({ model }) => location.type === "hub" && model === location.id)?.chatFrame ?? null;
}

/**
 * Rows of the embedding that no token has are padding, up to where it can be no padding any more. A token without a row
 * cannot be.
 */
function checkTokenizer(tokens: number, rows: number): void {
  if (tokens <= rows && rows - tokens < LARGEST_PADDING) return;
  throw new ChorusError(
    "model_invalid",
    `${TOKENIZER_FILE} has ${tokens} tokens, but the model's embedding has ${rows} rows: they are not of the same model.`,
    TOKENIZER_FILE,
  );
}
