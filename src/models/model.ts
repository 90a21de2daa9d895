import type { StoredAs } from "../files/tensor.ts";
import type { ModelShape } from "../protocol/model-shape.ts";
import type { GgufPairs } from "./gguf-pairs.ts";
import type { Graph } from "./graph.ts";

/** A model as its config.json describes it: all that backends and engines need. */
export interface Model {
  /** Name of its family: config.json's model_type. */
  readonly family: string;
  readonly shape: ModelShape;
  readonly graph: Graph;
  /** The graph of weights as MLX stores them, if that differs. */
  readonly mlxGraph?: Graph;
  readonly eosTokenIds: readonly number[];
  /** Beginnings of the graph's names, with those that a checkpoint may have in their place. */
  readonly tensorPrefixes: readonly (readonly [own: string, inFile: string])[];
  /** How a GGUF file differs from the graph, if the weights are in one; null: they are in safetensors. */
  readonly gguf?: GgufWeights | null;
  /** Returns how the checkpoint stores a tensor, by the graph's name; not known of plain safetensors before they are opened. */
  readonly storedAs?: ((tensor: string) => StoredAs | null) | null;
  /** Returns whether a checkpoint's tensor, by its full name, is not a weight: an old buffer, or a copy of a tied head. */
  isUnused(tensor: string): boolean;
}

/** How a GGUF file holds a model's weights. */
interface GgufWeights {
  /** Returns the file's name of a tensor. */
  nameOf(tensor: string): string;
  /** Returns whether a tensor's rows, or a bias's values, turn in pairs (2i, 2i+1) of a head instead of (i, i + headDim / 2). */
  isInterleaved(tensor: string): boolean;
}

/** How GGUF files describe a family's models. */
export interface GgufForm {
  /** Values of general.architecture, with the model_type that each stands for. */
  readonly architectures: ReadonlyMap<string, string>;
  readonly weights: (architecture: string) => GgufWeights;
  /**
   * Returns what config.json would say, without its model_type and its tokens.
   * @throws ChorusError model_invalid or model_unsupported, naming the pair
   */
  config(pairs: GgufPairs): Promise<Record<string, unknown>>;
}

export interface Family {
  /** Values of config.json's model_type. */
  readonly modelTypes: readonly string[];
  readonly gguf: GgufForm | null;
  /** @throws ChorusError model_invalid or model_unsupported, naming the field */
  describe(config: unknown): Model;
}
