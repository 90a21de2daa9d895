import type { OpenedBackend } from "../../backends/backend.ts";
import type { ModelTokenizer } from "../../files/tokenizer.ts";
import { mixtureOf } from "../../models/weight-layouts.ts";
import type { ModelCard } from "../../protocol/reports.ts";
import type { Texts } from "../text/texts.ts";
import type { FetchedModel } from "./fetch.ts";
import type { LoadedRightKernels } from "./verify.ts";

export function modelCard(
  backend: OpenedBackend,
  { name, weights, vocabSize, frame, defaults }: FetchedModel,
  { runner, engineConfig, notice }: LoadedRightKernels,
  tokenizer: ModelTokenizer,
  texts: Texts,
): ModelCard {
  return {
    name,
    numParameters: weights.numParameters,
    weightBytes: runner.weightBytes,
    kvCacheBytes: backend.memory(weights.model, engineConfig).kvCacheBytes,
    contextLength: engineConfig.maxModelLen,
    vocabSize,
    numLayers: weights.model.shape.numLayers,
    dtype: engineConfig.dtype,
    mixture: engineConfig.dtype === "stored" ? mixtureOf(weights.model) : null,
    activationDtype: engineConfig.activationDtype,
    kvCacheDtype: engineConfig.kvCacheDtype,
    numGpuBlocks: engineConfig.numGpuBlocks,
    blockSize: engineConfig.blockSize,
    backend: backend.name,
    adapter: runner.adapterName,
    notice,
    chat: tokenizer.chatTemplate !== null || frame !== null,
    readsSystemPrompt: texts.readsSystemPrompt,
    canTimeKernels: (runner.timeKernels ?? null) !== null,
    defaults: {
      temperature: defaults.temperature,
      top_p: defaults.topP,
      top_k: defaults.topK,
      min_p: defaults.minP,
      repetition_penalty: defaults.repetitionPenalty,
    },
  };
}
