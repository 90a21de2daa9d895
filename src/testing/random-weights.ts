import type { Weight } from "../models/graph.ts";
import { describeModel } from "../models/families.ts";
import type { ModelWeights } from "../models/model-weights.ts";
import type { Tensor } from "../files/tensor.ts";
import { randomFloats } from "./gpu.ts";
import { tensorOf } from "./tensors.ts";

/** Random weights for any config.json, small enough that nothing overflows: for measuring, not for reading. */
export function randomWeights(config: unknown): ModelWeights {
  const tensors = new Map<string, Tensor>();
  return {
    model: describeModel(config),
    numParameters: NaN,
    tensor({ tensors: [first] }: Weight) {
      const { name, shape } = first ?? { name: "", shape: [] };
      const [rows = 1, columns = 1] = shape.length === 2 ? shape : [1, ...shape];
      const isGamma = /(ln_\w+|norm)\.weight$/.test(name);
      const values = isGamma ? new Float32Array(columns).fill(1) : randomFloats(rows * columns, tensors.size + 1, 0.05);
      const tensor = tensors.get(name) ?? tensorOf(values, rows, columns);
      tensors.set(name, tensor);
      return tensor;
    },
  };
}
