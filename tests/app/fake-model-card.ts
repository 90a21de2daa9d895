import type { ModelCard } from "../../src/protocol/reports.ts";

/** The card of the fake engine's model. */
export const FAKE_MODEL: ModelCard = {
  name: "fake-gpt",
  numParameters: 4_200_000,
  weightBytes: 8_500_000,
  kvCacheBytes: 7_900_000,
  contextLength: 256,
  vocabSize: 4096,
  numLayers: 4,
  dtype: "f16",
  mixture: null,
  activationDtype: "f32",
  kvCacheDtype: "f16",
  numGpuBlocks: 240,
  blockSize: 16,
  backend: "webgpu",
  adapter: "Fake adapter",
  notice: null,
  chat: true,
  readsSystemPrompt: true,
  canTimeKernels: true,
  defaults: { temperature: 0.6, top_p: 0.9, top_k: 30, min_p: 0, repetition_penalty: 1 },
};
