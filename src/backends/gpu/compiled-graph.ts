import type { Dispatch, StepSize } from "./kernel.ts";
import type { KernelTraits } from "./kernel-style.ts";
import { compileOperation, valueOf, type CompiledOperation, type OperationContext } from "./operations/operations.ts";
import { operationsOf } from "./operations/operations-of.ts";

/**
 * A model's graph as dispatches, compiled and bound before the first step. A step of any mixture of prompt and decode rows
 * walks the same list.
 */
export class CompiledGraph {
  readonly #body: readonly CompiledOperation[];
  readonly #head: readonly CompiledOperation[];

  private constructor(body: readonly CompiledOperation[], head: readonly CompiledOperation[]) {
    this.#body = body;
    this.#head = head;
  }

  static async compile(context: OperationContext, traits: KernelTraits): Promise<CompiledGraph> {
    const operations = operationsOf(context, traits);
    const compiled = await Promise.all(
      context.graph.operations.map(async (operation) => ({
        isHead:
          operation.type === "head" ||
          ("output" in operation && valueOf(context, operation.output).height === "samples"),
        dispatches: await compileOperation(operations, operation),
      })),
    );
    const part = (isHead: boolean) => compiled.filter((one) => one.isHead === isHead).flatMap((one) => one.dispatches);
    return new CompiledGraph(part(false), part(true));
  }

  /** Takes a step's dispatches in their order, and makes none. A step that samples nothing has no head. */
  forEach(step: StepSize, take: (dispatch: Dispatch) => void): void {
    for (const operation of this.#body) operation(step).forEach(take);
    if (step.samples > 0) for (const operation of this.#head) operation(step).forEach(take);
  }
}
