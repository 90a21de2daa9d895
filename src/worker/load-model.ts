import { createChatFormat, type ChatFormat } from "../api/chat-format.ts";
import { resolveEngineConfig } from "../api/engine-config.ts";
import { openDevice, type OpenedDevice } from "../gpu/device.ts";
import { Gpt2Runner } from "../gpu/gpt2-runner.ts";
import { parseGpt2Config } from "../model/gpt2-config.ts";
import { loadGenerationDefaults, type GenerationDefaults } from "../model/generation-config.ts";
import { loadGpt2Weights } from "../model/gpt2-weights.ts";
import { openModelFiles } from "../model/model-files.ts";
import { openSafetensors } from "../model/safetensors.ts";
import { loadTokenizer, type ModelTokenizer } from "../model/tokenizer.ts";
import type { EngineConfig, ModelSource, ResolvedEngineConfig } from "../protocol/config.ts";
import type { LoadProgress, ModelCard } from "../protocol/reports.ts";

const WEIGHTS_FILE = "model.safetensors";

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
  source: ModelSource,
  config: EngineConfig,
  gpu: GPU | undefined,
  onProgress: (progress: LoadProgress) => void,
): Promise<LoadedModel> {
  // Before any download: without a GPU none is needed.
  const opened = await openDevice(gpu);
  try {
    onProgress({ stage: "adapter", done: 1, total: 1, detail: opened.adapterName });
    const files = openModelFiles(source, {
      onBytes: (file, done, total) => {
        if (file === WEIGHTS_FILE) onProgress({ stage: "weights", done, total: total ?? done });
        if (file === "tokenizer.json") onProgress({ stage: "tokenizer", done, total: total ?? done });
      },
    });
    const modelConfig = parseGpt2Config(await files.readJson("config.json"));
    const engineConfig = resolveEngineConfig(config, modelConfig);
    const defaults = await loadGenerationDefaults(files, modelConfig.eosTokenIds);
    const [tokenizer, weightsFile] = await Promise.all([
      loadTokenizer(files, defaults.eosTokenIds),
      files.read(WEIGHTS_FILE),
    ]);
    const chatFormat = createChatFormat(tokenizer);
    const weights = loadGpt2Weights(await openSafetensors(new Blob([weightsFile])), modelConfig);
    const runner = await Gpt2Runner.create({
      opened,
      weights,
      engine: engineConfig,
      onKernel: (done, total) => onProgress({ stage: "kernels", done, total }),
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
      chat: tokenizer.chatTemplate !== null,
      readsSystemPrompt: chatFormat.readsSystemPrompt,
      defaults: { temperature: defaults.temperature, top_p: defaults.topP, top_k: defaults.topK },
    };
    return { card, tokenizer, chatFormat, defaults, engineConfig, opened, runner };
  } catch (error) {
    opened.device.destroy();
    throw error;
  }
}
