// A model's products as if its file had them packed: what GGUF files have, beside q8 and q4.

import type { OpenedDevice } from "../../src/backends/gpu/device.ts";
import type { MatmulVariant } from "../../src/backends/gpu/matmul-variants.ts";
import { zeroRows, type Packing } from "../../src/files/packing.ts";
import { packedTensor } from "../../src/files/tensor.ts";
import type { ModelWeights } from "../../src/models/model-weights.ts";
import { prepareProducts } from "../../tests/gpu/prepared-products.ts";
import { PACKINGS } from "../../tests/references/packed-tensor.ts";
import type { BenchContext } from "../page/bench-context.ts";
import type { SectionFindings } from "../report/bench-result.ts";

/** Returns the time of each kernel for each packing; no table if the products' matrices can't be packed. */
export async function timePackedProducts(
  opened: OpenedDevice,
  weights: ModelWeights,
  variants: readonly MatmulVariant[],
  maxRows: number,
  context: BenchContext,
): Promise<SectionFindings["tables"]> {
  const gate = weights.model.graph.operations.find(({ type }) => type === "gate");
  if (gate?.type !== "gate") return [];
  // Such widths have no blocks of 256.
  const names = gate.gate.matrix.inputs % 256 === 0 ? (["Q4_K", "Q6_K"] as const) : (["Q5_0", "Q8_0"] as const);
  const rows: (string | number)[][] = [];
  for (const name of ["q8", "q4", ...names] as const) {
    const packed = packedAs(weights, PACKINGS[name]);
    const prepared = await prepareProducts(opened, packed, { maxRows, dtype: "stored" });
    try {
      for (const variant of variants) {
        context.signal.throwIfAborted();
        const own = Math.min(variant.maxRows, maxRows);
        const ms = await prepared.measure(variant, own);
        rows.push([name, variant.name, own, 1000 * ms, prepared.weightBytes / ms / 1e6]);
      }
    } finally {
      prepared.destroy();
    }
  }
  return [{ title: "Packed weights", columns: ["Kept as", "Kernel", "rows", "µs a product", "GB/s of weights"], rows }];
}

/** Returns a model whose file has its matrices packed so: of zeros, since no kernel's time depends on the values. */
function packedAs(weights: ModelWeights, packing: Packing): ModelWeights {
  const { model } = weights;
  return {
    ...weights,
    model: { ...model, storedAs: () => ({ type: "packed", layout: packing }) },
    tensor(weight) {
      const tensor = weights.tensor(weight);
      const { rows, columns } = tensor;
      if (rows === 1) return tensor;
      const readRows = (begin: number, end: number) => Promise.resolve(zeroRows(packing, (end - begin) * columns));
      return packedTensor(rows, columns, { type: "packed", packing, readRows });
    },
  };
}
