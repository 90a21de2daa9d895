import { headBlockBytes, type CacheShape } from "../kernels/cache-write.ts";
import { Epilogue } from "../../epilogues.ts";
import { outputColumns } from "../kernels/epilogues.ts";
import { embedOf, productOf } from "../kernels/kernels.ts";
import { GROUP_COLUMNS } from "../kernels/panels.ts";
import type { Kernels } from "../kernels/signatures.ts";
import type {
  AttendOperation,
  CacheWriteOperation,
  CopyHeadsOperation,
  EachRowOperation,
  EmbedOperation,
  KeptRows,
  LinearOperation,
  Operation,
  Program,
  SampleOperation,
  ShortConvOperation,
} from "./operation.ts";
import { DeltaNetThread } from "./delta-net.ts";
import type { Meeting } from "./meeting.ts";
import { attentionShares, type HeadShare } from "./attention-share.ts";
import { shareOf, type Share } from "./share.ts";
import { StepView, type StepMemory } from "./step-memory.ts";

/** A thread's program and memory; plain data. */
export interface ThreadPlan {
  readonly program: Program;
  readonly step: StepMemory;
  readonly cache: CacheShape;
  readonly scratch: ThreadScratch;
}

/** Each thread's own memory; the same addresses for all, `bytes` apart. */
export interface ThreadScratch {
  /** Totals of products. */
  readonly totals: number;
  /** Scores of attention: [heads] of `pitch` bytes. */
  readonly scores: number;
  readonly pitch: number;
  readonly bytes: number;
}

/** Draws samples: see sampler/sampler.ts. */
interface SampleDrawer {
  draw(sample: number, logits: number): void;
  record(numSamples: number): void;
}

/** Computes one thread's share of steps. */
export class StepThread {
  readonly #kernels: Kernels;
  readonly #plan: ThreadPlan;
  readonly #view: StepView;
  readonly #floats: Float32Array;
  readonly #drawer: SampleDrawer;
  readonly #deltaNets: DeltaNetThread;
  readonly #convolutions: readonly ShortConvOperation[];
  readonly #thread: number;
  #threads = 1;
  /** Of one row's kernel. */
  readonly #arguments: number[] = [];
  /** Shares of the previous attention in this step: layers mostly have the same. */
  #attention: { readonly heads: number; readonly window: number | null; readonly shares: HeadShare[] } | null = null;

  constructor(kernels: Kernels, buffer: ArrayBufferLike, plan: ThreadPlan, drawer: SampleDrawer, thread: number) {
    this.#kernels = kernels;
    this.#plan = plan;
    this.#view = new StepView(buffer, plan.step);
    this.#floats = new Float32Array(buffer);
    this.#drawer = drawer;
    this.#deltaNets = new DeltaNetThread(kernels, buffer, this.#view);
    this.#convolutions = plan.program.flat().filter((operation) => operation.type === "shortConv");
    this.#thread = thread;
  }

  /** Walks the program; `meeting` is called after each phase. */
  run(threads: number, meeting: Meeting): void {
    this.#threads = threads;
    this.#attention = null;
    this.#deltaNets.beginStep();
    for (const phase of this.#plan.program) {
      for (const operation of phase) this.#compute(operation);
      meeting.meet();
    }
  }

  #compute(operation: Operation): void {
    switch (operation.type) {
      case "eachRow":
        return this.#eachRow(operation);
      case "embed":
        return this.#embed(operation);
      case "copyHeads":
        return this.#copyHeads(operation);
      case "linear":
        return this.#linear(operation);
      case "cacheWrite":
        return this.#cacheWrite(operation);
      case "attend":
        return this.#attend(operation);
      case "shortConv":
        return this.#shortConv(operation);
      case "deltaInputs":
        return this.#deltaNets.prepare(operation, this.#share(this.#view.numRows));
      case "deltaRule":
        return this.#deltaNets.remember(operation, this.#thread, this.#threads);
      case "sample":
        return this.#sample(operation);
      case "record":
        if (this.#thread === 0) this.#drawer.record(this.#view.numSamples);
    }
  }

  #share(count: number): Share {
    return shareOf(count, this.#thread, this.#threads);
  }

  #scratch(address: number): number {
    return address + this.#thread * this.#plan.scratch.bytes;
  }

  #eachRow({ of, kernel, args }: EachRowOperation): void {
    const { begin, end } = this.#share(of === "rows" ? this.#view.numRows : this.#view.numSamples);
    const call: (...values: number[]) => void = this.#kernels[kernel];
    const values = this.#arguments;
    values.length = args.length;
    for (let i = begin; i < end; i++) {
      // Written out, since a call for each argument takes longer than some kernels.
      for (let n = 0; n < args.length; n++) {
        const one = args[n] ?? 0;
        if (typeof one === "number") values[n] = one;
        else values[n] = one.address + (one.by ? this.#view[one.by](i) : i) * one.stride;
      }
      call(...values);
    }
  }

  #embed({ table, scale, y }: EmbedOperation): void {
    const scratch = this.#scratch(this.#plan.scratch.totals);
    const { begin, end } = this.#share(this.#view.numRows);
    for (let row = begin; row < end; row++) {
      const to = y.address + row * y.stride;
      const token = this.#view.token(row);
      const part = table.findLast(({ firstToken }) => firstToken <= token);
      if (!part) throw new RangeError("a table without a first token");
      const { firstToken, panels } = part;
      embedOf(this.#kernels, panels.readBy)(panels.address, token - firstToken, to, 4 * panels.kStride, scale, scratch);
    }
  }

  #copyHeads({ x, y, heads, from, to }: CopyHeadsOperation): void {
    const size = Math.min(from, to);
    const { begin, end } = this.#share(this.#view.numRows);
    for (let row = begin; row < end; row++) {
      for (let head = 0; head < heads; head++) {
        const source = (x.address + row * x.stride) / 4 + head * from;
        this.#floats.copyWithin((y.address + row * y.stride) / 4 + head * to, source, source + size);
      }
    }
  }

  #linear({ of, x, w, bias, y, epilogue }: LinearOperation): void {
    const rows = of === "rows" ? this.#view.numRows : this.#view.numSamples;
    const { begin, end } = this.#share(w.nStride / GROUP_COLUMNS);
    if (rows === 0 || begin === end) return;
    productOf(this.#kernels, w.readBy)(
      x.address,
      x.stride,
      w.address + begin * w.groupBytes,
      bias === 0 ? 0 : bias + 4 * GROUP_COLUMNS * begin,
      y.address + 4 * outputColumns(epilogue) * begin,
      y.stride,
      4 * w.kStride,
      end - begin,
      rows,
      this.#scratch(this.#plan.scratch.totals),
      Epilogue[epilogue],
    );
  }

  #cacheWrite({ k, v, heads, cache }: CacheWriteOperation): void {
    const { blockSize } = this.#plan.cache;
    const { begin, end } = this.#share(this.#view.numRows);
    for (let row = begin; row < end; row++) {
      const position = this.#view.position(row);
      const block = this.#view.block(this.#view.slot(row), Math.floor(position / blockSize)) * cache.blockBytes;
      this.#kernels.cache_write(
        k.address + row * k.stride,
        v.address + row * v.stride,
        cache.keys + block,
        cache.values + block,
        position % blockSize,
        heads,
      );
    }
  }

  #attend(operation: AttendOperation): void {
    const { heads, window } = operation;
    if (this.#attention?.heads !== heads || this.#attention.window !== window) {
      this.#attention = { heads, window, shares: this.#headShares(operation) };
    }
    for (const share of this.#attention.shares) this.#attendHeads(operation, share);
  }

  #headShares({ heads, window }: AttendOperation): HeadShare[] {
    const lengths = Array.from({ length: this.#view.numRows }, (_, row) => {
      const length = this.#view.position(row) + 1;
      return window === null ? length : Math.min(length, window);
    });
    return attentionShares(lengths, heads, this.#thread, this.#threads);
  }

  #attendHeads({ q, y, heads, keyHeads, headSize, scale, window, cache }: AttendOperation, share: HeadShare): void {
    const { row, begin, end } = share;
    const { scores, pitch } = this.#plan.scratch;
    const length = this.#view.position(row) + 1;
    const queriesPerKey = heads / keyHeads;
    const keyOffset = Math.floor(begin / queriesPerKey) * headBlockBytes(this.#plan.cache);
    const headOffset = 4 * begin * headSize;
    this.#kernels.attend(
      q.address + row * q.stride + headOffset,
      y.address + row * y.stride + headOffset,
      cache.keys + keyOffset,
      cache.values + keyOffset,
      cache.blockBytes,
      this.#view.table(this.#view.slot(row)),
      window === null ? 0 : Math.max(0, length - window),
      length,
      this.#scratch(scores),
      pitch,
      end - begin,
      begin % queriesPerKey,
      scale,
    );
  }

  #shortConv({ x, products, y, width, taps, weights, kept }: ShortConvOperation): void {
    const bytes = 4 * width;
    const { begin, end } = this.#share(this.#view.numRows);
    for (let row = begin; row < end; row++) {
      const to = y.address + row * y.stride;
      const position = this.#view.position(row);
      const earliest = Math.max(0, taps - 1 - position);
      for (let t = earliest; t < taps; t++) {
        const back = taps - 1 - t;
        const from =
          position - back >= this.#view.start(row)
            ? products.address + (row - back) * products.stride
            : this.#keptAt(kept, this.#view.slot(row), position - back);
        const multiply = t === earliest ? this.#kernels.multiply : this.#kernels.multiply_add;
        multiply(to, from, weights.address + t * weights.stride, bytes);
      }
      this.#kernels.multiply(to, to, x.address + row * x.stride + bytes, bytes);
    }
  }

  #keptAt({ address, stride, count }: KeptRows, slot: number, position: number): number {
    const { blockSize } = this.#plan.cache;
    const block = this.#view.block(slot, Math.floor(position / blockSize));
    return address + (block * count + ((position % blockSize) % count)) * stride;
  }

  /**
   * Keeps the rows that convolutions of later steps read. Once a step is done: computed again, it reads those that were there
   * before.
   */
  keepRows(): void {
    const { cache } = this.#plan;
    for (const { products, width, kept } of this.#convolutions) {
      for (let row = 0; row < this.#view.numRows; row++) {
        // A later row of the block has the same place.
        const slot = this.#view.slot(row);
        const position = this.#view.position(row);
        const later = row + kept.count;
        const isSame = later < this.#view.numRows && this.#view.slot(later) === slot;
        if (isSame && (position % cache.blockSize) + kept.count < cache.blockSize) continue;
        const from = (products.address + row * products.stride) / 4;
        this.#floats.copyWithin(this.#keptAt(kept, slot, position) / 4, from, from + width);
      }
    }
  }

  #sample({ logits }: SampleOperation): void {
    const { begin, end } = this.#share(this.#view.numSamples);
    for (let i = begin; i < end; i++) this.#drawer.draw(i, logits.address + i * logits.stride);
  }
}
