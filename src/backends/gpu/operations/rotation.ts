import { maxSequenceLength } from "../../../engine/scheduling/admission.ts";
import type { Rotary, RotaryAngles } from "../../../models/graph.ts";
import { rotary } from "../kernels/rotary.ts";
import { always, cacheConstants, type CompiledOperation, type OperationContext } from "./operations.ts";

/**
 * Returns one dispatch over the heads of queries and keys. Layers with the same angles share their table.
 * @param lanes lanes of a head's workgroup
 */
export function rotations(
  context: OperationContext,
  { lanes }: { lanes: number },
): (operation: Rotary) => Promise<CompiledOperation[]> {
  const { compiler, arena, shape, engine, buffers, activations, step } = context;
  const tables = new Map<RotaryAngles, GPUBuffer>();
  const tableOf = (angles: RotaryAngles) => {
    const table = tables.get(angles) ?? arena.upload("rotary angles", rotaryTable(angles, maxSequenceLength(engine)));
    tables.set(angles, table);
    return table;
  };
  const { HEADS, HEAD_SIZE, QKV_STRIDE } = cacheConstants(context);
  return async ({ label, angles, norms = null, value }) => {
    const table = tableOf(angles);
    const kind = { NORMED: norms !== null, EPSILON: norms?.queries.epsilon ?? 0 };
    return [
      always({
        name: label,
        pipeline: await compiler.pipeline(rotary, { LANES: lanes, HEADS, HEAD_SIZE, QKV_STRIDE, ...kind }),
        bindGroup: compiler.bind(rotary, {
          angles: table,
          query_norm: norms ? buffers.norm(norms.queries) : table,
          key_norm: norms ? buffers.norm(norms.keys) : table,
          rows: step.rows,
          qkv: activations.buffer(value),
        }),
        workgroups: (size) => [shape.numHeads + shape.numKvHeads, size.rows],
      }),
    ];
  };
}

/** Returns (cos, sin) [positions, headDim / 2], computed in float64. */
export function rotaryTable(angles: RotaryAngles, positions: number): Float32Array<ArrayBuffer> {
  const { inverseFrequencies, scaling } = angles;
  const table = new Float32Array(2 * positions * inverseFrequencies.length);
  let at = 0;
  for (let position = 0; position < positions; position++) {
    for (const frequency of inverseFrequencies) {
      table[at++] = scaling * Math.cos(position * frequency);
      table[at++] = scaling * Math.sin(position * frequency);
    }
  }
  return table;
}
