import { maxSequenceLength } from "../../engine/scheduling/admission.ts";
import type { RowTiles } from "../../engine/row-tiles.ts";
import type { Graph } from "../../models/graph.ts";
import type { LoadOptions } from "../backend.ts";
import { tuneTiles } from "./attention-tuning.ts";
import { CompiledGraph } from "./compiled-graph.ts";
import { describeKernels } from "./describe-kernels.ts";
import type { KernelTraits } from "./kernel-style.ts";
import { LaterTiles } from "./later-tiles.ts";
import { measureOn, tuneMatmuls, tuningKey } from "./matmul-tuning.ts";
import { defaultMatmuls, integerMatmuls, matmulChoices, type MatmulVariant } from "./matmul-variants.ts";
import type { ModelContext } from "./operations/operations.ts";
import { tileChoices, type QueryTiles } from "./query-tiles.ts";
import type { Tuned } from "./tuning.ts";

export interface LoadedGraph {
  readonly compiled: CompiledGraph;
  readonly kernelNotes: readonly string[];
  readonly rowTiles: RowTiles;
  /** Compiles part of the graph, from kernels that are compiled already. */
  readonly compilePart: (part: Graph) => Promise<CompiledGraph>;
}

/**
 * Chooses the kernels of a model's graph, and compiles those that the first step needs.
 * @param filling resolves once the weights are in their buffers: products are measured on them
 */
export async function loadGraph(
  model: ModelContext,
  traits: KernelTraits,
  { weights, tuning, kernels = "default" }: LoadOptions,
  adapterName: string,
  filling: Promise<void>,
): Promise<LoadedGraph> {
  const { shape, engine, step } = model;
  const key = tuningKey(adapterName, weights.model, engine.dtype);
  const integers = engine.activationDtype === "int8" ? integerMatmuls(traits) : null;
  let measure: ReturnType<typeof measureOn> | null = null; // most loads measure nothing
  const tuned: Tuned<MatmulVariant> =
    tuning && !integers
      ? await tuneMatmuls(matmulChoices(traits), key, tuning, (...product) =>
          filling.then(() => (measure ??= measureOn(model))(...product)),
        )
      : { variants: defaultMatmuls(traits), reason: "unmeasured" };
  const choice = tileChoices(traits, shape);
  const tiles: Tuned<QueryTiles> = tuning
    ? await tuneTiles(choice, key, tuning, model)
    : { variants: [choice[0]], reason: "unmeasured" };
  const { variants: matmuls } = tuned;
  const laterTiles = new LaterTiles(step, tiles.variants[0] ?? choice[0]);
  const context = { ...model, matmuls, integerMatmuls: integers, tiles: laterTiles };
  const compilePart = (graph: Graph) => CompiledGraph.compile({ ...context, graph }, traits);
  const used = integers ?? matmuls;
  const kernelNotes = describeKernels({ ...tuned, variants: used }, tiles, {
    traits,
    kernels,
    shape,
    maxLength: maxSequenceLength(engine),
  });
  return { compiled: await compilePart(model.graph), compilePart, kernelNotes, rowTiles: used };
}
