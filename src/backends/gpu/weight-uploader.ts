import { isSameLayout, type PackedRows } from "../../files/packing.ts";
import { releaseBytes } from "../../files/release-bytes.ts";
import { BYTES_PER_ELEMENT, floatsOf, type Tensor, type TensorDtype } from "../../files/tensor.ts";
import { partOf, type LayoutPart, type WeightLayout } from "../../models/weight-layouts.ts";
import { createBuffer, largestBuffer, type Arena } from "./arena.ts";
import type { KernelCompiler } from "./kernel.ts";
import { packWeights } from "./kernels/kernels.ts";
import { layoutConstants, matrixBytes, PACKED } from "./matrix-layout.ts";
import { padTransposed, padRows, strideOf } from "./padding.ts";
import { BufferUsage } from "./flags.ts";

/** A matrix in the matmul kernels' layout. */
export interface PackedMatrix {
  readonly w: GPUBuffer;
  readonly layout: WeightLayout;
  /** Padded sizes, divided by 4. */
  readonly K4: number;
  readonly N4: number;
}

/** A matrix [k, n] as its file has it. */
interface UnpackedMatrix {
  readonly label: string;
  readonly tensor: Tensor;
  readonly transposed: boolean;
  readonly k: number;
  readonly n: number;
}

/** Columns of a matrix [k, n] from `firstOutput` on. */
export interface MatrixPart extends PackedMatrix {
  readonly firstOutput: number;
}

/** Bytes per upload. Browsers keep a copy or two until the GPU has the data. */
const STAGING_BYTES = 16 * 2 ** 20;
/** Bands begin at multiples of this many rows, so that none cuts a chunk of K or four columns. */
const BAND_ROWS = 32;
/** Bytes of the uniform `band`: nine words, rounded up to a multiple of 16. */
const BAND_BYTES = 48;
const LANES = 32;
/** The kernel's codes for the types of a file's tensors that are not packed. */
const SOURCES: Readonly<Record<TensorDtype, number>> = { F32: 0, F16: 1, BF16: 2 };
/** Columns of a part are a multiple of this: its outputs (a gate's are half as many) are bound at a multiple of 256 bytes. */
const PART_ALIGNMENT = 128;

/**
 * Gives weights their buffers at once, so that kernels can be compiled and bound, and fills them later: matrices as their file
 * has them, in bands of rows. A kernel packs them on the GPU. So JavaScript holds at most one band (for a gate one and a half,
 * while two matrices are joined) and converts nothing, unless it packs floats itself.
 */
export class WeightUploader {
  readonly #device: GPUDevice;
  readonly #arena: Arena;
  readonly #compiler: KernelCompiler;
  readonly #stagingBytes: number;
  readonly #maxBindingBytes: number;
  /** Whether JavaScript packs weights in f32: on a software adapter it is faster, and waits for no kernel. */
  readonly #packsFloats: boolean;
  readonly #band: GPUBuffer;
  /** Run one after the other: each reads a part of a file. */
  readonly #fills: (() => Promise<void>)[] = [];
  #staging: GPUBuffer | undefined;

  constructor(
    device: GPUDevice,
    arena: Arena,
    compiler: KernelCompiler,
    { stagingBytes = STAGING_BYTES, maxBindingBytes = largestBuffer(device), packsFloats = false } = {},
  ) {
    this.#device = device;
    this.#arena = arena;
    this.#compiler = compiler;
    this.#stagingBytes = stagingBytes;
    this.#maxBindingBytes = maxBindingBytes;
    this.#packsFloats = packsFloats;
    const usage = BufferUsage.UNIFORM | BufferUsage.COPY_DST;
    this.#band = createBuffer(device, { label: "band", size: BAND_BYTES, usage });
  }

  /** @param transposed whether the tensor is [n, k], like an embedding used as the head; else [k, n] */
  matrix(label: string, tensor: Tensor, layout: WeightLayout, { transposed = false } = {}): PackedMatrix {
    const [k, n] = transposed ? [tensor.columns, tensor.rows] : [tensor.rows, tensor.columns];
    const w = this.#arena.storage(label, matrixBytes(k, n, layout));
    const matrix = { w, layout, K4: strideOf(k) / 4, N4: strideOf(n) / 4 };
    if (this.#packsFloats && layout === "f32" && (!transposed || 4 * k * n <= this.#stagingBytes)) {
      this.#fills.push(() => this.#writeFloats(w, tensor, transposed));
      return matrix;
    }
    const readBand = bandReader(tensor, layout);
    const SOURCE = readBand.isPacked ? PACKED : SOURCES[tensor.dtype];
    // Started now, so that it compiles before the kernels of steps.
    const constants = { LANES, SOURCE, ...layoutConstants(layout) };
    const packing = this.#compiler.compile({ kernel: packWeights, constants });
    packing.catch(() => undefined); // fill() handles the error
    this.#fills.push(async () => this.#pack(await packing, w, { label, tensor, transposed, k, n }, readBand));
    return matrix;
  }

  /** Writes a matrix in f32 in bands of rows, or as a whole if it is transposed: a band of rows would become columns. */
  async #writeFloats(w: GPUBuffer, tensor: Tensor, isTransposed: boolean): Promise<void> {
    const { rows, columns, dtype } = tensor;
    const rowBytes = 4 * strideOf(columns);
    const bandRows = isTransposed ? rows : this.#bandRows(rowBytes);
    for (let first = 0; first < rows; first += bandRows) {
      const numRows = Math.min(bandRows, rows - first);
      const bytes = await tensor.readRows(first, first + numRows);
      const values = floatsOf(bytes, dtype);
      const needsNoPadding = rowBytes === 4 * columns && !isTransposed;
      const padded = needsNoPadding ? values : (isTransposed ? padTransposed : padRows)(values, numRows, columns);
      this.#device.queue.writeBuffer(w, first * rowBytes, padded);
      this.#device.queue.submit([]); // until then Firefox keeps what was written
      for (const each of [bytes, values, padded]) releaseBytes(each);
    }
  }

  async #pack(
    pipeline: GPUComputePipeline,
    w: GPUBuffer,
    { label, tensor, transposed, k, n }: UnpackedMatrix,
    { rowBytes, read }: BandReader,
  ): Promise<void> {
    const { queue } = this.#device;
    const bandRows = this.#bandRows(rowBytes);
    const source = this.#stagingOf(Math.min(bandRows, strideOf(tensor.rows)) * rowBytes);
    const bindGroup = this.#compiler.bind(packWeights, { source, packed: w, band: this.#band });
    for (let first = 0; first < tensor.rows; first += bandRows) {
      const numRows = Math.min(bandRows, tensor.rows - first);
      const begins: number[] = [];
      let bytesBefore = 0;
      for (const bytes of await read(first, first + numRows)) {
        begins.push(bytesBefore / 4);
        const words = wholeWords(bytes);
        queue.writeBuffer(source, bytesBefore, words);
        bytesBefore += words.length;
        releaseBytes(bytes);
      }
      const sizes = [k, n, first, numRows, Number(transposed)];
      queue.writeBuffer(this.#band, 0, new Uint32Array([...sizes, ...begins.slice(1)]));
      const encoder = this.#device.createCommandEncoder({ label });
      const pass = encoder.beginComputePass({ label });
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      const bandStride = strideOf(numRows);
      const [columns, chunks] = transposed ? [bandStride, strideOf(k)] : [strideOf(n), bandStride];
      pass.dispatchWorkgroups(Math.ceil(columns / (4 * LANES)), chunks / BAND_ROWS);
      pass.end();
      await this.#compiler.proveRun(pipeline.label, () => queue.submit([encoder.finish()]));
    }
  }

  /** Returns a matrix in the parts that have a layout each; one [n, k] in none larger than the adapter's largest binding. */
  parts(label: string, tensor: Tensor, layouts: readonly LayoutPart[], transposed: boolean): readonly MatrixPart[] {
    return layouts.flatMap(({ firstOutput: begin, outputs, layout }) => {
      if (!transposed) return [{ ...this.matrix(label, tensor, layout), firstOutput: begin }];
      const stepBytes = matrixBytes(tensor.columns, PART_ALIGNMENT, layout);
      const most = PART_ALIGNMENT * Math.max(1, Math.floor(this.#maxBindingBytes / stepBytes));
      return Array.from({ length: Math.ceil(outputs / most) }, (_, i): MatrixPart => {
        const part = { firstOutput: begin + i * most, outputs: Math.min(most, outputs - i * most), layout };
        const matrix = this.matrix(label, partOf(tensor, part), layout, { transposed: true });
        return { ...matrix, firstOutput: part.firstOutput };
      });
    });
  }

  values(label: string, length: number, read: () => Promise<Float32Array<ArrayBuffer>>): GPUBuffer {
    const buffer = this.#arena.storage(label, 4 * length);
    this.#fills.push(async () => this.#device.queue.writeBuffer(buffer, 0, await read()));
    return buffer;
  }

  /** Uploads all weights that have buffers. @throws the signal's reason */
  async fill(signal?: AbortSignal): Promise<void> {
    for (let fill = this.#fills.shift(); fill !== undefined; fill = this.#fills.shift()) {
      signal?.throwIfAborted();
      await fill();
    }
  }

  /** Destroys the staging buffers. The arena owns the matrices. */
  destroy(): void {
    this.#band.destroy();
    this.#staging?.destroy();
  }

  #bandRows(rowBytes: number): number {
    return BAND_ROWS * Math.max(1, Math.floor(this.#stagingBytes / (BAND_ROWS * rowBytes)));
  }

  #stagingOf(bytes: number): GPUBuffer {
    if (this.#staging && this.#staging.size >= bytes) return this.#staging;
    this.#staging?.destroy();
    const usage = BufferUsage.STORAGE | BufferUsage.COPY_DST;
    this.#staging = createBuffer(this.#device, { label: "staging", size: Math.ceil(bytes / 16) * 16, usage });
    return this.#staging;
  }
}

interface BandReader {
  readonly isPacked: boolean;
  /** Bytes of a row of a band, at most. */
  readonly rowBytes: number;
  /** Returns the arrays of rows [begin, end), in the order of the kernel's source. */
  readonly read: (begin: number, end: number) => Promise<readonly Uint8Array<ArrayBuffer>[]>;
}

/** Reads rows as they are packed if they stay so, else as floats. */
function bandReader(tensor: Tensor, layout: WeightLayout): BandReader {
  const { packed, columns, dtype } = tensor;
  if (typeof layout === "string" || !packed) {
    const read = async (begin: number, end: number) => [await tensor.readRows(begin, end)];
    return { isPacked: false, rowBytes: columns * BYTES_PER_ELEMENT[dtype], read };
  }
  if (!isSameLayout(packed.packing, layout)) throw new RangeError("a packed matrix in another packing than its layout");
  // At most a float for d, one for m and two codes for each 16 integers.
  const rowBytes = Math.ceil((columns * (16 + 10)) / 16);
  return { isPacked: true, rowBytes, read: async (begin, end) => arraysOf(await packed.readRows(begin, end)) };
}

function arraysOf({ integers, d, m, scales, minimums }: PackedRows): readonly Uint8Array<ArrayBuffer>[] {
  const none = new Uint8Array(0);
  return [integers, d, m ?? none, scales ?? none, minimums ?? none].map(
    ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
  );
}

/** Pads to whole words, which writes to buffers need: an odd number of halves ends within a word. */
function wholeWords(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (bytes.length % 4 === 0) return bytes;
  const padded = new Uint8Array(4 * Math.ceil(bytes.length / 4));
  padded.set(bytes);
  return padded;
}
