import { expect, test } from "vitest";
import { createChatFormat, type ChatTokenizer } from "../api/chat-format.ts";
import { describeModel } from "../models/families.ts";
import { countParameters } from "../models/model-weights.ts";
import { CATALOGUE, type ChatFrame } from "./catalogue.ts";
import { isHubId } from "./model-source.ts";
import { stateBytes } from "./model-shape.ts";

const entry = (model: string) => CATALOGUE.find((known) => known.model === model)!;

test("every entry is a hub id, and there once", () => {
  const ids = CATALOGUE.map(({ model }) => model);
  expect(ids.filter((id) => !isHubId(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test("the first model that a newcomer is offered costs at most 110 MB", () => {
  const [first] = CATALOGUE;
  expect(isHubId(first?.gguf ?? "")).toBe(true);
  expect(first?.ggufBytes).toBeLessThanOrEqual(110_000_000);
});

test.each([
  ["distilbert/distilgpt2", { n_layer: 6 }],
  ["openai-community/gpt2", {}],
  ["openai-community/gpt2-medium", { n_embd: 1024, n_layer: 24, n_head: 16 }],
  ["openai-community/gpt2-large", { n_embd: 1280, n_layer: 36, n_head: 20 }],
  ["MBZUAI/LaMini-GPT-124M", { vocab_size: 50258 }],
  ["nicholasKluge/Aira-2-124M-DPO", { vocab_size: 50259 }],
  [
    "SebastianSchramm/Cerebras-GPT-111M-instruction",
    { n_layer: 10, n_inner: 3072, n_positions: 2048, vocab_size: 50258 },
  ],
])("%s has the parameters of its shape", (model, shape) => {
  const described = describeModel({ model_type: "gpt2", ...shape });
  expect(entry(model).numParameters).toBe(countParameters(described));
});

const llamaType = (layers: number, hidden: number, inner: number, heads: number, kvHeads: number, vocab: number) => ({
  num_hidden_layers: layers,
  hidden_size: hidden,
  intermediate_size: inner,
  num_attention_heads: heads,
  num_key_value_heads: kvHeads,
  vocab_size: vocab,
  max_position_embeddings: 8192,
  tie_word_embeddings: true,
});

test.each([
  ["HuggingFaceTB/SmolLM2-135M-Instruct", { model_type: "llama", ...llamaType(30, 576, 1536, 9, 3, 49_152) }],
  ["HuggingFaceTB/SmolLM2-360M-Instruct", { model_type: "llama", ...llamaType(32, 960, 2560, 15, 5, 49_152) }],
  ["Qwen/Qwen2.5-0.5B-Instruct", { model_type: "qwen2", ...llamaType(24, 896, 4864, 14, 2, 151_936) }],
  ["Qwen/Qwen3-0.6B", { model_type: "qwen3", head_dim: 128, ...llamaType(28, 1024, 3072, 16, 8, 151_936) }],
  ["google/gemma-3-270m-it", { model_type: "gemma3_text", head_dim: 256, ...llamaType(18, 640, 2048, 4, 1, 262_144) }],
])("%s has the parameters of its shape, each of two bytes in its file", (model, config) => {
  const { numParameters, downloadBytes } = entry(model);
  expect(numParameters).toBe(countParameters(describeModel(config)));
  // Qwen3's file has its head a second time.
  const twice = model === "Qwen/Qwen3-0.6B" ? config.vocab_size * config.hidden_size : 0;
  expect(Math.abs(2 * (numParameters! + twice) - downloadBytes!)).toBeLessThan(1e6);
});

/** From config.json: layers, hidden, intermediate, query heads, heads of keys and values, size of a head, vocabulary. */
const LLAMA_TYPES = {
  "HuggingFaceTB/SmolLM2-135M-Instruct": ["llama", 30, 576, 1536, 9, 3, 64, 49_152],
  "HuggingFaceTB/SmolLM2-360M-Instruct": ["llama", 32, 960, 2560, 15, 5, 64, 49_152],
  "Qwen/Qwen2.5-0.5B-Instruct": ["qwen2", 24, 896, 4864, 14, 2, 64, 151_936],
  "Qwen/Qwen3-0.6B": ["qwen3", 28, 1024, 3072, 16, 8, 128, 151_936],
  "google/gemma-3-270m-it": ["gemma3_text", 18, 640, 2048, 4, 1, 256, 262_144],
  "google/gemma-3-1b-it": ["gemma3_text", 26, 1152, 6912, 4, 1, 256, 262_144],
  "meta-llama/Llama-3.2-1B-Instruct": ["llama", 16, 2048, 8192, 32, 8, 64, 128_256],
  "Qwen/Qwen3-1.7B": ["qwen3", 28, 2048, 6144, 16, 8, 128, 151_936],
  "HuggingFaceTB/SmolLM3-3B": ["smollm3", 36, 2048, 11_008, 16, 4, 128, 128_256],
} as const;

test.each(Object.entries(LLAMA_TYPES))("%s has the parameters of its shape", (model, shape) => {
  const [model_type, layers, hidden, inner, heads, kvHeads, headDim, vocabulary] = shape;
  const described = describeModel({
    model_type,
    num_hidden_layers: layers,
    hidden_size: hidden,
    intermediate_size: inner,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    vocab_size: vocabulary,
    max_position_embeddings: 8192,
    tie_word_embeddings: true,
  });
  expect(entry(model).numParameters).toBe(countParameters(described));
  expect(described.isUnused("lm_head.weight")).toBe(true);
});

test("Qwen3.5 0.8B has the parameters of its text model", () => {
  const described = describeModel({
    model_type: "qwen3_5_text",
    num_hidden_layers: 24,
    hidden_size: 1024,
    intermediate_size: 3584,
    num_attention_heads: 8,
    num_key_value_heads: 2,
    linear_num_key_heads: 16,
    linear_num_value_heads: 16,
    linear_key_head_dim: 128,
    linear_value_head_dim: 128,
    linear_conv_kernel_dim: 4,
    vocab_size: 248_320,
    max_position_embeddings: 8192,
    tie_word_embeddings: true,
  });
  expect(entry("Qwen/Qwen3.5-0.8B").numParameters).toBe(countParameters(described));
  expect(stateBytes(described.shape)).toBe(18 * (2 ** 20 + 72 * 2 ** 10));
});

/** What the frame writes, by a tokenizer of characters. */
function written(frame: ChatFrame | null): string {
  const tokenizer: ChatTokenizer = {
    chatTemplate: null,
    toolTemplate: null,
    namedTokens: { eos_token: "<|endoftext|>" },
    controlTokens: [],
    splitControlTokens: (text) => [text],
    encodePlain: (text) => [...text].map((character) => character.codePointAt(0)!),
    specialTokens: { before: [] },
  };
  const ids = createChatFormat(tokenizer, frame).open([
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello" },
    { role: "user", content: "Bye" },
  ]).tokenIds;
  return String.fromCodePoint(...ids);
}

test("DialoGPT's turns end with the end of text", () => {
  expect(written(entry("microsoft/DialoGPT-small").chatFrame)).toBe(
    "Hi<|endoftext|>Hello<|endoftext|>Bye<|endoftext|>",
  );
});

test("Aira's are marked at both ends", () => {
  expect(written(entry("nicholasKluge/Aira-2-124M-DPO").chatFrame)).toBe(
    "<|startofinstruction|>Hi<|endofinstruction|>Hello<|endofcompletion|>" +
      "<|startofinstruction|>Bye<|endofinstruction|>",
  );
});

test("instructions have Alpaca's headings", () => {
  const text = written(entry("MBZUAI/LaMini-GPT-124M").chatFrame);
  expect(text).toMatch(/^Below is an instruction/);
  expect(text.slice(text.indexOf("###"))).toBe(
    "### Instruction:\nHi\n\n### Response:\nHello\n\n### Instruction:\nBye\n\n### Response:\n",
  );
});
