// Shapes of the benchmark's random models: a step takes as long with random weights as with trained ones.

/** Sizes of a GPT-2. */
interface Gpt2Size {
  readonly nLayer: number;
  readonly nEmbd: number;
  readonly nHead: number;
  readonly vocabSize: number;
  readonly nPositions: number;
}

/** Sizes of any family, by its config.json without the vocabulary. */
interface ConfigSize {
  readonly config: Readonly<Record<string, unknown>>;
  readonly vocabSize: number;
}

export type ModelSize = Gpt2Size | ConfigSize;

export const MODEL_SIZES = {
  tiny: { nLayer: 2, nEmbd: 64, nHead: 4, vocabSize: 512, nPositions: 512 },
  "tiny-llama": {
    config: {
      model_type: "llama",
      num_hidden_layers: 2,
      hidden_size: 96,
      intermediate_size: 256,
      num_attention_heads: 6,
      num_key_value_heads: 2,
      max_position_embeddings: 1024,
      rms_norm_eps: 1e-5,
      rope_theta: 10_000,
      tie_word_embeddings: true,
    },
    vocabSize: 512,
  },
  small: { nLayer: 6, nEmbd: 384, nHead: 6, vocabSize: 8192, nPositions: 512 },
  distilgpt2: { nLayer: 6, nEmbd: 768, nHead: 12, vocabSize: 50257, nPositions: 1024 },
  gpt2: { nLayer: 12, nEmbd: 768, nHead: 12, vocabSize: 50257, nPositions: 1024 },
  "gpt2-medium": { nLayer: 24, nEmbd: 1024, nHead: 16, vocabSize: 50257, nPositions: 1024 },
  "gpt2-large": { nLayer: 36, nEmbd: 1280, nHead: 20, vocabSize: 50257, nPositions: 1024 },
  "gpt2-xl": { nLayer: 48, nEmbd: 1600, nHead: 25, vocabSize: 50257, nPositions: 1024 },
  "smollm2-135m": {
    config: {
      model_type: "llama",
      num_hidden_layers: 30,
      hidden_size: 576,
      intermediate_size: 1536,
      num_attention_heads: 9,
      num_key_value_heads: 3,
      max_position_embeddings: 8192,
      rms_norm_eps: 1e-5,
      rope_theta: 100_000,
      tie_word_embeddings: true,
    },
    vocabSize: 49_152,
  },
  "qwen3-0.6b": {
    config: {
      model_type: "qwen3",
      num_hidden_layers: 28,
      hidden_size: 1024,
      intermediate_size: 3072,
      num_attention_heads: 16,
      num_key_value_heads: 8,
      head_dim: 128,
      max_position_embeddings: 40_960,
      rms_norm_eps: 1e-6,
      rope_theta: 1e6,
      tie_word_embeddings: true,
    },
    vocabSize: 151_936,
  },
} as const satisfies Record<string, ModelSize>;

type SizeName = keyof typeof MODEL_SIZES;

export function isSizeName(name: string): name is SizeName {
  return Object.hasOwn(MODEL_SIZES, name);
}
