import { maxSequenceLength } from "../../../engine/scheduling/admission.ts";
import { frequenciesFor, queryFactor, type Rotary, type RotaryAngles } from "../../../models/graph.ts";
import { rotary } from "../kernels/kernels.ts";
import { always, cacheConstants, type CompiledOperation, type OperationContext } from "./operations.ts";

/** Returns one dispatch over heads, each by so many lanes. Layers with the same angles share their table. */
export function rotations(
  context: OperationContext,
  { lanes }: { lanes: number },
): (operation: Rotary) => Promise<CompiledOperation> {
  const { compiler, arena, shape, engine, buffers, activations, step } = context;
  const maxLength = maxSequenceLength(engine);
  const tables = new Map<RotaryAngles, GPUBuffer>();
  const tableOf = (angles: RotaryAngles) => {
    const table =
      tables.get(angles) ?? arena.upload("rotary angles", rotaryTable(angles, maxLength, engine.maxModelLen));
    tables.set(angles, table);
    return table;
  };
  const { HEADS, KV_HEADS, HEAD_SIZE, QKV_STRIDE } = cacheConstants(context);
  return async ({ label, angles, norms = null, value }) => {
    const table = tableOf(angles);
    const isOverWidth = norms?.over === "width";
    const kind = {
      QUERY_ANGLES: angles.queryGrowth ? (maxLength * HEAD_SIZE) / 2 : 0,
      NORMED: norms !== null,
      OVER_WIDTH: isOverWidth,
      AFTER_ROTATION: norms?.afterRotation ?? false,
      EPSILON: norms?.queries.epsilon ?? 0,
    };
    return always(
      await compiler.dispatch({
        name: label,
        kernel: rotary,
        constants: { LANES: lanes, HEADS, KV_HEADS, HEAD_SIZE, QKV_STRIDE, ...kind },
        buffers: {
          angles: table,
          query_norm: norms ? buffers.rows(norms.queries) : table,
          key_norm: norms ? buffers.rows(norms.keys) : table,
          rows: step.rows,
          qkv: activations.buffer(value),
        },
        workgroups: (size) => [isOverWidth ? 2 : shape.numHeads + shape.numKvHeads, size.rows],
      }),
    );
  };
}

/**
 * Returns (cos, sin) [positions, headDim / 2] of keys, then of queries if they have their own; computed in float64.
 * @param maxModelLen decides on frequencies, also where the cache has room for fewer tokens
 */
export function rotaryTable(
  angles: RotaryAngles,
  positions: number,
  maxModelLen = positions,
): Float32Array<ArrayBuffer> {
  const frequencies = frequenciesFor(angles, maxModelLen);
  const tables = angles.queryGrowth ? 2 : 1;
  const table = new Float32Array(2 * tables * positions * frequencies.length);
  let at = 0;
  for (let row = 0; row < tables * positions; row++) {
    const position = row % positions;
    const factor = row < positions ? 1 : queryFactor(angles, position);
    for (const frequency of frequencies) {
      const scaling = frequency === 0 ? factor : factor * angles.scaling;
      table[at++] = scaling * Math.cos(position * frequency);
      table[at++] = scaling * Math.sin(position * frequency);
    }
  }
  return table;
}
