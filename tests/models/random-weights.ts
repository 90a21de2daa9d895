import type { Weight } from "../../src/models/graph.ts";
import type { Model } from "../../src/models/model.ts";
import type { ModelWeights } from "../../src/models/model-weights.ts";
import type { Tensor } from "../../src/files/tensor.ts";
import { randomFloats } from "../gpu/gpu.ts";
import { tensorOf } from "../references/tensors.ts";

/** Returns random weights for a model, small enough that nothing overflows. A norm's are 1. */
export function randomWeights(model: Model): ModelWeights {
  const tensors = new Map<string, Tensor>();
  return {
    model,
    file: "random",
    numParameters: NaN,
    tensor({ tensors: parts }: Weight) {
      const { name, shape } = parts[0] ?? { name: "", shape: [] };
      const sum = (axis: number) => parts.reduce((total, part) => total + (part.shape[axis] ?? 0), 0);
      const ofRow = shape.slice(1).reduce((product, size) => product * size, 1);
      const [rows, columns] = shape.length === 2 ? [sum(0), ofRow] : [1, sum(0) * ofRow];
      const isGamma = /(ln_\w+|norm)\.weight$/.test(name);
      const values = () =>
        isGamma ? new Float32Array(columns).fill(1) : randomFloats(rows * columns, tensors.size + 1, 0.05);
      const tensor = tensors.get(name) ?? tensorOf(values(), rows, columns);
      tensors.set(name, tensor);
      return tensor;
    },
  };
}
