import { readBy, type Graph, type Operation, type Value, type ValueShape } from "../models/graph.ts";

/**
 * Assigns values to as few buffers as their lifetimes allow. Values of one buffer have the same width, since the padding of rows
 * must stay zero.
 * @param normsAreFused whether products normalise their input themselves: then norms write nothing, unless they add to their
 *   output, and their input lives on
 */
export function shareValues(graph: Graph, { normsAreFused }: { normsAreFused: boolean }) {
  const { operations, values } = graph;
  const normOf = new Map<Value, Value>();
  for (const op of normsAreFused ? operations : []) {
    if (op.type === "norm" && !op.addsToOutput) normOf.set(op.output, op.input);
  }
  const lastUse = new Map<Value, number>();
  operations.forEach((operation, at) => {
    for (const value of usedBy(operation)) lastUse.set(normOf.get(value) ?? value, at);
  });

  const slots: ValueShape[] = [];
  const free: number[] = [];
  /** The slot of each value; null where it is never written. */
  const slotOf: (number | null)[] = values.map(() => null);
  operations.forEach((operation, at) => {
    const used = usedBy(operation);
    for (const value of used) {
      const shape = values[value];
      if (shape === undefined || normOf.has(value) || slotOf[value] !== null) continue;
      const fits = free.findIndex((slot) => slots[slot]?.width === shape.width && slots[slot].height === shape.height);
      slotOf[value] = fits < 0 ? slots.push(shape) - 1 : (free.splice(fits, 1)[0] ?? null);
    }
    for (const value of new Set(used.map((one) => normOf.get(one) ?? one))) {
      const slot = slotOf[value];
      if (lastUse.get(value) === at && typeof slot === "number") free.push(slot);
    }
  });
  return { slots, slotOf };
}

/** Returns the values that an operation reads or writes. */
function usedBy(operation: Operation): readonly Value[] {
  return [...readBy(operation), ...("output" in operation ? [operation.output] : [])];
}
