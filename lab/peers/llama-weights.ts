// A Llama's weights for the converters, all in memory.

import { JsonFields } from "../../src/files/json-fields.ts";
import { readRope } from "../../src/models/decoder-config.ts";
import { parseLlamaConfig, type LlamaConfig } from "../../src/models/llama/config.ts";
import type { OpenCheckpoint } from "./open-checkpoint.ts";

/** A layer of a Llama or a Qwen3. Matrices are [out, in]. The rows of `qkv` are those of queries, keys and values in turn. */
export interface LlamaLayer extends Record<
  "attnNorm" | "qkv" | "o" | "mlpNorm" | "gate" | "up" | "down",
  Float32Array
> {
  /** Norms of each head's queries and keys, before they are rotated: [headDim]; null for none. */
  readonly headNorms: { readonly query: Float32Array; readonly key: Float32Array } | null;
}

export interface LlamaWeights {
  readonly family: "llama";
  readonly config: LlamaConfig;
  readonly ropeTheta: number;
  readonly numParameters: number;
  readonly embedding: Float32Array;
  readonly layers: readonly LlamaLayer[];
  readonly norm: Float32Array;
  /** null: the embedding. */
  readonly head: Float32Array | null;
}

/** @throws Error if the model differs from the first Llama by more than its head, its groups of heads and their norms */
export async function readLlamaWeights(checkpoint: OpenCheckpoint): Promise<LlamaWeights> {
  const { folder, model, numParameters, read } = checkpoint;
  const config = parseLlamaConfig(checkpoint.config);
  const { theta, scaling } = readRope(new JsonFields("config.json", checkpoint.config), 10_000);
  const { hasQkvBias, hasOutputBias, hasMlpBias, hasHeadNorms, windows, activation } = config;
  const hasMore = hasQkvBias || hasOutputBias || hasMlpBias || windows.some((window) => window !== null);
  if (hasMore || scaling !== null || activation !== "silu") {
    throw new Error(`${folder}: only Llama without biases, windows or scaled positions can be converted.`);
  }
  const layers = Array.from({ length: model.shape.numLayers }, async (_, i) => {
    const part = (name: string) => read(`model.layers.${i}.${name}.weight`);
    return {
      attnNorm: await part("input_layernorm"),
      qkv: await part("self_attn.q_proj"),
      o: await part("self_attn.o_proj"),
      mlpNorm: await part("post_attention_layernorm"),
      gate: await part("mlp.gate_proj"),
      up: await part("mlp.up_proj"),
      down: await part("mlp.down_proj"),
      headNorms: hasHeadNorms ? { query: await part("self_attn.q_norm"), key: await part("self_attn.k_norm") } : null,
    };
  });
  return {
    family: "llama",
    config: { ...config, shape: model.shape },
    ropeTheta: theta,
    numParameters,
    embedding: await read("model.embed_tokens.weight"),
    layers: await Promise.all(layers),
    norm: await read("model.norm.weight"),
    head: config.tieWordEmbeddings ? null : await read("lm_head.weight"),
  };
}
