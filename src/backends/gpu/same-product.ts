// Tests whether two kernels of a product give the same bits. The known answers (host/loading/known-answers.ts) compare the
// first kernel of every product with the CPU. The others are compiled while answers stream, and compared with it before use.

import type { OpenedDevice } from "./device.ts";
import { sizeOf, type Dispatch } from "./kernel.ts";
import { Epilogue } from "../epilogues.ts";
import type { HeadShape, MatmulShape, MatmulVariant } from "./matmul-variants.ts";
import { hashOf, numbers, readAfter, type Answers } from "./read-after.ts";
import type { BufferRange } from "./readback.ts";
import type { StepBuffer } from "./step-buffer.ts";

/** Most groups of four columns to compute, since a large head would delay steps. A multiple of every workgroup's. */
const MAX_N4 = 128;

/** A product that is computed twice between two steps, when nobody needs the buffers' contents. */
export interface TriedProduct {
  readonly shape: MatmulShape;
  readonly x: GPUBuffer;
  readonly y: GPUBuffer | GPUBufferBinding;
  /** For the head: the summary that the kernels for GPUs also write. */
  readonly head: (HeadShape & { readonly logitParts: GPUBuffer }) | null;
}

/** The place of one output's rows. */
interface Output {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly rowBytes: number;
  /** Output bytes for four columns of the weights. */
  readonly bytesPerN4: number;
}

interface TriedKernel {
  readonly variant: MatmulVariant;
  /** The product, after a norm of its own if it has one. */
  readonly dispatches: readonly Dispatch[];
}

/** Returns what both give for the same inputs. */
export async function answersOfProduct(
  { step, ...opened }: Pick<OpenedDevice, "device" | "poller"> & { readonly step: StepBuffer },
  product: TriedProduct,
  kernels: readonly [TriedKernel, TriedKernel],
): Promise<Answers> {
  const { shape, x } = product;
  const outputs = outputsOf(product);
  // A full tile of either kernel and a row of the next, as far as there is room.
  const neededRows = Math.max(...kernels.map(({ variant }) => variant.tileRows)) + 1;
  const places = [{ buffer: x, offset: 0, rowBytes: 16 * shape.K4 }, ...outputs];
  const room = places.map(({ buffer, offset, rowBytes }) => Math.floor((buffer.size - offset) / rowBytes));
  const rows = Math.min(neededRows, step.maxRows, ...room);
  const N4 = Math.min(shape.N4, MAX_N4);
  const ranges = outputs.flatMap((output) => rangesOf(output, rows, N4));
  const { queue } = opened.device;
  // All is submitted at once, so that no step comes between.
  step.writeRows(queue, rows);
  queue.writeBuffer(x, 0, numbers(4 * rows * shape.K4));
  const results = kernels.map(({ variant, dispatches }) => {
    for (const { buffer, offset, bytes } of ranges) queue.writeBuffer(buffer, offset, numbers(bytes / 4));
    const workgroups = () => variant.workgroups({ ...shape, N4 }, rows);
    const last = dispatches.slice(-1).map((dispatch) => ({ ...dispatch, workgroups }));
    return readAfter(opened, [...dispatches.slice(0, -1), ...last], sizeOf(rows), ranges);
  });
  const [known = NaN, given = NaN] = (await Promise.all(results)).map(hashOf);
  return { known, given };
}

function outputsOf({ shape, y, head }: TriedProduct): readonly Output[] {
  const { buffer, offset = 0 } = "buffer" in y ? y : { buffer: y };
  const isGate = shape.EPILOGUE >= Epilogue.gegluTanh;
  const own = { buffer, offset, rowBytes: 16 * shape.Y4, bytesPerN4: isGate ? 8 : 16 };
  if (head === null) return [own];
  // 16 bytes for each 32 logits.
  const rowBytes = 16 * Math.ceil(head.VOCABULARY / 32);
  return [own, { buffer: head.logitParts, offset: head.FIRST_TOKEN / 2, rowBytes, bytesPerN4: 2 }];
}

/** Returns the first columns of each row. */
function rangesOf({ buffer, offset, rowBytes, bytesPerN4 }: Output, rows: number, N4: number): readonly BufferRange[] {
  const bytes = Math.min(rowBytes, 4 * Math.ceil((bytesPerN4 * N4) / 4));
  return Array.from({ length: rows }, (_, row) => ({ buffer, offset: offset + row * rowBytes, bytes }));
}
