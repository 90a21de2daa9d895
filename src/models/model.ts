import type { ModelShape } from "../protocol/model-shape.ts";
import type { Graph } from "./graph.ts";

/** A model as its config.json describes it: all that a backend compiles and an engine asks for. */
export interface Model {
  /** Name of its family: what config.json calls model_type. */
  readonly family: string;
  readonly shape: ModelShape;
  readonly graph: Graph;
  readonly eosTokenIds: readonly number[];
  /** Prefixes that a checkpoint may put before the graph's names; "" where it may leave them out. */
  readonly tensorPrefixes: readonly string[];
  /** Returns whether a checkpoint's tensor, by its full name, is none of the weights: old buffers, a copy of a tied head. */
  isUnused(tensor: string): boolean;
}

/** A model family, by what its checkpoints call themselves. */
export interface Family {
  /** Values of config.json's model_type. */
  readonly modelTypes: readonly string[];
  /**
   * Reads config.json.
   * @param vocabSize rows of the token embedding, where the checkpoint has another number than the config
   * @throws ChorusError model_invalid for nonsense, model_unsupported for what this family does not do, by field
   */
  describe(config: unknown, vocabSize?: number): Model;
}
