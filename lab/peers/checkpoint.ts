// Reads a checkpoint for the converters: all of it in memory, in f32.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { TokenizerJson } from "../../src/files/tokenizer-json.ts";
import { ModelTokenizer } from "../../src/files/tokenizer.ts";
import { readGpt2Weights, type Gpt2Weights } from "./gpt2-weights.ts";
import { readLlamaWeights, type LlamaWeights } from "./llama-weights.ts";
import { openCheckpoint, type OpenCheckpoint } from "./open-checkpoint.ts";

export interface PeerCheckpoint {
  readonly weights: Gpt2Weights | LlamaWeights;
  readonly tokenizer: ModelTokenizer;
  readonly vocabulary: Vocabulary;
}

/** Byte-level BPE, as tokenizer.json writes it. */
export interface Vocabulary {
  /** Tokens by id. */
  readonly tokens: readonly string[];
  /** Two tokens with a space between, best first. */
  readonly merges: readonly string[];
  readonly controlTokenIds: readonly number[];
}

/** @throws Error for a model that can't be converted */
export async function readCheckpoint(folder: string): Promise<PeerCheckpoint> {
  const weights = await readWeights(await openCheckpoint(folder));
  const tokenizerJson = JSON.parse(await readFile(join(folder, "tokenizer.json"), "utf8")) as TokenizerJson;
  return {
    weights,
    tokenizer: new ModelTokenizer({
      json: { ...tokenizerJson, alphabet: "bytes" },
      chatTemplate: null,
      toolTemplate: null,
      tokenNames: {},
      eosTokenIds: [],
    }),
    vocabulary: readVocabulary(tokenizerJson),
  };
}

function readWeights(checkpoint: OpenCheckpoint): Promise<Gpt2Weights | LlamaWeights> {
  switch (checkpoint.model.family) {
    case "gpt2":
      return readGpt2Weights(checkpoint);
    case "llama":
    case "qwen3":
      return readLlamaWeights(checkpoint);
    default:
      throw new Error(
        `${checkpoint.folder}: ${checkpoint.model.family} can't be converted, only gpt2, llama and qwen3.`,
      );
  }
}

function readVocabulary({ model, added_tokens: added }: TokenizerJson): Vocabulary {
  const tokens: string[] = [];
  for (const [token, id] of Object.entries(model.vocab)) tokens[id] = token;
  for (const { id, content } of added) tokens[id] = content;
  const merges = model["merges"] as readonly (string | readonly [string, string])[];
  return {
    tokens,
    merges: merges.map((merge) => (typeof merge === "string" ? merge : merge.join(" "))),
    controlTokenIds: added.map(({ id }) => id),
  };
}
