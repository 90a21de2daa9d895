import type { Weight } from "../models/graph.ts";
import type { Model } from "../models/model.ts";
import type { ModelWeights } from "../models/model-weights.ts";
import type { Tensor } from "../files/tensor.ts";
import { randomFloats } from "./gpu.ts";
import { tensorOf } from "./tensors.ts";

/** Returns random weights for a model, small enough that nothing overflows. A LayerNorm's are 1. */
export function randomWeights(model: Model): ModelWeights {
  const tensors = new Map<string, Tensor>();
  return {
    model,
    numParameters: NaN,
    tensor({ tensors: [first] }: Weight) {
      const { name, shape } = first ?? { name: "", shape: [] };
      const [rows = 1, columns = 1] = shape.length === 2 ? shape : [1, ...shape];
      const isGamma = /ln_\w+\.weight$/.test(name);
      const values = isGamma ? new Float32Array(columns).fill(1) : randomFloats(rows * columns, tensors.size + 1, 0.05);
      const tensor = tensors.get(name) ?? tensorOf(values, rows, columns);
      tensors.set(name, tensor);
      return tensor;
    },
  };
}
