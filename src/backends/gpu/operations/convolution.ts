import type { ShortConv } from "../../../models/graph.ts";
import { convRowsPerBlock, convStride } from "../../../protocol/model-shape.ts";
import { keepConvRows, shortConv } from "../kernels/kernels.ts";
import { ofLayer } from "../model-buffers.ts";
import { strideOf } from "../padding.ts";
import { always, cacheConstants, type CompiledOperation, type OperationContext } from "./operations.ts";

const LANES = 64;

/** Convolves, then keeps the rows: no row may write where a neighbour still reads. */
export async function convolution(context: OperationContext, operation: ShortConv): Promise<CompiledOperation> {
  const { compiler, buffers, activations, step, shape, engine } = context;
  const { label, width: WIDTH, taps: TAPS } = operation;
  const { BLOCK_SIZE, MAX_BLOCKS } = cacheConstants(context);
  const places = { KEPT_STRIDE: convStride(shape), KEPT_ROWS: convRowsPerBlock(shape, engine), BLOCK_SIZE, MAX_BLOCKS };
  const sizes = { LANES, WIDTH, X_STRIDE: strideOf(3 * WIDTH), ...places };
  const bound = {
    x: activations.buffer(operation.input),
    kept: ofLayer(buffers.keptRows, operation.layer),
    rows: step.rows,
    block_tables: step.blockTables,
    step: step.step,
  };
  const workgroups = ({ rows }: { readonly rows: number }) => [Math.ceil(WIDTH / LANES), rows] as const;
  return always(
    await compiler.dispatch({
      name: label,
      kernel: shortConv,
      constants: { ...sizes, TAPS, Y_STRIDE: strideOf(WIDTH) },
      buffers: { ...bound, weights: buffers.rows(operation.kernel), y: activations.buffer(operation.output) },
      workgroups,
    }),
    await compiler.dispatch({
      name: `${label} rows`,
      kernel: keepConvRows,
      constants: sizes,
      buffers: bound,
      workgroups,
    }),
  );
}
