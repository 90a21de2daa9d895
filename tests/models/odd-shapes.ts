// Sizes that no published model has. Each is odd where kernels pad, split or tile: heads, their size, widths, the vocabulary, the
// window.

const GPT2 = { model_type: "gpt2", n_layer: 1, n_embd: 12, n_head: 2, vocab_size: 37, n_positions: 48 };
const LLAMA = {
  model_type: "llama",
  num_hidden_layers: 1,
  hidden_size: 20,
  intermediate_size: 23,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 10,
  vocab_size: 37,
  max_position_embeddings: 48,
};

export const ODD_SHAPES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "one of everything": { ...GPT2, n_embd: 1, n_head: 1, n_inner: 1, vocab_size: 1 },
  "heads of three": { ...GPT2, n_layer: 3, n_embd: 33, n_head: 11, n_inner: 65, vocab_size: 63 },
  "heads of 33": { ...GPT2, n_embd: 99, n_head: 3, n_inner: 2, vocab_size: 65 },
  "one head of 258": { ...GPT2, n_embd: 258, n_head: 1, n_inner: 31, vocab_size: 2 },
  "nine heads on three, a window of 17": {
    ...LLAMA,
    model_type: "mistral",
    hidden_size: 35,
    intermediate_size: 65,
    num_attention_heads: 9,
    num_key_value_heads: 3,
    head_dim: 6,
    vocab_size: 257,
    sliding_window: 17,
  },
  "32 heads of two on one, untied": {
    ...LLAMA,
    hidden_size: 3,
    intermediate_size: 1,
    num_attention_heads: 32,
    head_dim: 2,
    tie_word_embeddings: false,
  },
  "one head of 224, a window of 1": {
    ...LLAMA,
    model_type: "mistral",
    num_attention_heads: 1,
    head_dim: 224,
    sliding_window: 1,
  },
  "normed heads of 34, large angles": {
    ...LLAMA,
    model_type: "qwen3",
    hidden_size: 33,
    num_attention_heads: 3,
    num_key_value_heads: 3,
    head_dim: 34,
    vocab_size: 127,
    rope_theta: 0.5,
  },
  "windows of 2, heads of 18": {
    ...LLAMA,
    model_type: "gemma3_text",
    num_hidden_layers: 7,
    head_dim: 18,
    vocab_size: 129,
    query_pre_attn_scalar: 5,
    sliding_window: 2,
    hidden_activation: "gelu_pytorch_tanh",
  },
};
