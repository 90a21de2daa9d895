// Whether two kernels of a product compute the same. The known answers (host/known-answers.ts) hold the kernel to the CPU that
// every product begins with. The others are compiled while answers stream: each is held to that kernel before it is used.

import type { OpenedDevice } from "./device.ts";
import type { MatmulShape, MatmulVariant } from "./matmul-variants.ts";
import { numbers, readAfter, type BufferRange } from "./read-after.ts";
import type { StepBuffer } from "./step-buffer.ts";

/** More than a tile of some kernels, and no full tile of any. All buffers of rows or samples have as many. */
const ROWS = 9;
/** At most so many columns of workgroups are computed: a large head would hold steps up. */
const MAX_WORKGROUPS = 32;
/** Most that outputs may differ: far less than a fault makes, and a compiler that adds in another order may make as much. */
const TOLERANCE = 1e-3;

/** A product that is computed twice between two steps: what buffers hold then is of no use to anybody. */
export interface TriedProduct {
  readonly shape: MatmulShape;
  readonly x: GPUBuffer;
  readonly outputs: readonly (GPUBuffer | GPUBufferBinding)[];
  readonly bindGroup: GPUBindGroup;
}

export interface TriedKernel {
  readonly variant: MatmulVariant;
  readonly pipeline: GPUComputePipeline;
}

/** Returns whether both give the same outputs for the same inputs. */
export async function isSameProduct(
  { step, ...opened }: Pick<OpenedDevice, "device" | "poller"> & { readonly step: StepBuffer },
  product: TriedProduct,
  kernels: readonly [TriedKernel, TriedKernel],
): Promise<boolean> {
  const { shape, x, bindGroup } = product;
  const ranges = product.outputs.map((output) => rangeOf(output, 16 * ROWS * shape.Y4));
  const { queue } = opened.device;
  // All is submitted in one go, so that no step comes between.
  step.writeRows(queue, ROWS);
  queue.writeBuffer(x, 0, numbers(4 * ROWS * shape.K4));
  const results = kernels.map(({ variant, pipeline }) => {
    for (const { buffer, offset, bytes } of ranges) queue.writeBuffer(buffer, offset, numbers(bytes / 4));
    const encode = (pass: GPUComputePassEncoder) => {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      const [columns, rows] = variant.workgroups(shape, ROWS);
      pass.dispatchWorkgroups(Math.min(columns, MAX_WORKGROUPS), rows);
    };
    return readAfter(opened, encode, ranges);
  });
  const [expected, given] = (await Promise.all(results)).map((bytes) => new Float32Array(bytes));
  return expected !== undefined && given !== undefined && areClose(expected, given);
}

function rangeOf(output: GPUBuffer | GPUBufferBinding, mostBytes: number): BufferRange {
  const { buffer, offset = 0 } = "buffer" in output ? output : { buffer: output };
  return { buffer, offset, bytes: Math.min(mostBytes, buffer.size - offset) };
}

/** Weights may be no numbers, and so may their products: then both must be. */
function areClose(expected: Float32Array, given: Float32Array): boolean {
  return expected.every((value, i) => {
    const other = given[i] ?? NaN;
    return Object.is(value, other) || Math.abs(value - other) <= TOLERANCE * (1 + Math.abs(value));
  });
}
