import type { Rotary, RotaryAngles } from "../../../models/graph.ts";
import { rotary } from "../kernels/rotary.ts";
import { always, cacheConstants, type CompiledOperation, type OperationContext } from "./operations.ts";

const LANES = 64;

/** One dispatch over the queries and keys. Layers with the same angles share their table. */
export function rotations(context: OperationContext): (operation: Rotary) => Promise<CompiledOperation[]> {
  const { compiler, arena, shape, engine, activations, step } = context;
  const tables = new Map<RotaryAngles, GPUBuffer>();
  const tableOf = (angles: RotaryAngles) => {
    const table = tables.get(angles) ?? arena.upload("rotary angles", rotaryTable(angles, engine.maxModelLen));
    tables.set(angles, table);
    return table;
  };
  const { HEADS, KV_HEADS, HEAD_SIZE, QKV_STRIDE } = cacheConstants(context);
  const pairs = ((shape.numHeads + shape.numKvHeads) * shape.headDim) / 2;
  return async ({ label, angles, value }) => [
    always({
      name: label,
      pipeline: await compiler.pipeline(rotary, { LANES, HEADS, KV_HEADS, HEAD_SIZE, QKV_STRIDE }),
      bindGroup: compiler.bind(rotary, {
        angles: tableOf(angles),
        rows: step.rows,
        qkv: activations.buffer(value),
      }),
      workgroups: (size) => [Math.ceil(pairs / LANES), size.rows],
    }),
  ];
}

/** (cos, sin) [positions, headDim / 2], computed in float64. */
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
