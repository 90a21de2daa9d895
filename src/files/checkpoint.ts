import type { Tensor } from "./tensor.ts";

/** The tensors of a model's weights, which are read on demand. */
export interface Checkpoint {
  /** The file, for error messages. */
  readonly file: string;
  names(): string[];
  has(name: string): boolean;
  /** Rows first. @throws ChorusError model_invalid without such a tensor */
  shape(name: string): readonly number[];
  /** A vector is one row. @throws ChorusError model_invalid, model_unsupported */
  tensor(name: string): Tensor;
}
