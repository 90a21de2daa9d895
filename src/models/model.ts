import type { ModelShape } from "../protocol/model-shape.ts";
import type { Graph } from "./graph.ts";

/** A model as its config.json describes it: all that backends and engines need. */
export interface Model {
  /** Name of its family: config.json's model_type. */
  readonly family: string;
  readonly shape: ModelShape;
  readonly graph: Graph;
  readonly eosTokenIds: readonly number[];
  /** Prefixes that a checkpoint may put before the graph's names; "" where it may leave them out. */
  readonly tensorPrefixes: readonly string[];
  /** Returns whether a checkpoint's tensor, by its full name, is not a weight: an old buffer, or a copy of a tied head. */
  isUnused(tensor: string): boolean;
}

/** A model family. */
export interface Family {
  /** Values of config.json's model_type. */
  readonly modelTypes: readonly string[];
  /**
   * Reads config.json.
   * @param vocabSize rows of the token embedding, if the checkpoint's number differs from the config's
   * @throws ChorusError model_invalid or model_unsupported, naming the field
   */
  describe(config: unknown, vocabSize?: number): Model;
}
