// Shapes of the benchmark's random models: a step takes as long with random weights as with trained ones.

/** By its config.json without the vocabulary. */
export interface ModelSize {
  readonly config: Readonly<Record<string, unknown>>;
  readonly vocabSize: number;
}

export function gpt2Size(
  layers: number,
  width: number,
  heads: number,
  vocabSize: number,
  positions: number,
): ModelSize {
  const config = {
    model_type: "gpt2",
    activation_function: "gelu_new",
    n_layer: layers,
    n_embd: width,
    n_head: heads,
    n_positions: positions,
    layer_norm_epsilon: 1e-5,
    tie_word_embeddings: true,
  };
  return { config, vocabSize };
}

/** @param widths of the model and of its MLPs; heads of queries and of keys; the largest position, and the base of the angles */
function llamaSize(layers: number, widths: Pair, heads: Pair, positions: Pair, vocabSize: number): ModelSize {
  const config = {
    model_type: "llama",
    num_hidden_layers: layers,
    hidden_size: widths[0],
    intermediate_size: widths[1],
    num_attention_heads: heads[0],
    num_key_value_heads: heads[1],
    max_position_embeddings: positions[0],
    rms_norm_eps: 1e-5,
    rope_theta: positions[1],
    tie_word_embeddings: true,
  };
  return { config, vocabSize };
}
type Pair = readonly [number, number];

const QWEN3 = llamaSize(28, [1024, 3072], [16, 8], [40_960, 1e6], 151_936);

export const MODEL_SIZES = {
  tiny: gpt2Size(2, 64, 4, 512, 512),
  "tiny-llama": llamaSize(2, [96, 256], [6, 2], [1024, 10_000], 512),
  small: gpt2Size(6, 384, 6, 8192, 512),
  distilgpt2: gpt2Size(6, 768, 12, 50257, 1024),
  gpt2: gpt2Size(12, 768, 12, 50257, 1024),
  "gpt2-medium": gpt2Size(24, 1024, 16, 50257, 1024),
  "gpt2-large": gpt2Size(36, 1280, 20, 50257, 1024),
  "gpt2-xl": gpt2Size(48, 1600, 25, 50257, 1024),
  "smollm2-135m": llamaSize(30, [576, 1536], [9, 3], [8192, 100_000], 49_152),
  "lfm2.5-350m": {
    config: {
      model_type: "lfm2",
      num_hidden_layers: 16,
      hidden_size: 1024,
      block_ff_dim: 6656,
      num_attention_heads: 16,
      num_key_value_heads: 8,
      full_attn_idxs: [2, 5, 8, 10, 12, 14],
      max_position_embeddings: 128_000,
    },
    vocabSize: 65_536,
  },
  "qwen3.5-0.8b": {
    config: {
      model_type: "qwen3_5_text",
      num_hidden_layers: 24,
      hidden_size: 1024,
      intermediate_size: 3584,
      num_attention_heads: 8,
      num_key_value_heads: 2,
      head_dim: 256,
      linear_num_key_heads: 16,
      linear_num_value_heads: 16,
      max_position_embeddings: 262_144,
      rope_theta: 1e7,
      tie_word_embeddings: true,
    },
    vocabSize: 248_320,
  },
  "qwen3-0.6b": { ...QWEN3, config: { ...QWEN3.config, model_type: "qwen3", head_dim: 128, rms_norm_eps: 1e-6 } },
} as const satisfies Record<string, ModelSize>;

type SizeName = keyof typeof MODEL_SIZES;

export function isSizeName(name: string): name is SizeName {
  return Object.hasOwn(MODEL_SIZES, name);
}
