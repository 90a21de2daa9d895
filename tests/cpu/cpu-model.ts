// A small random transformer as a program of the CPU backend: for tests of programs and threads, and for measuring.

import type { ActivationDtype, CpuMath, KvCacheDtype, FloatsDtype } from "../../src/protocol/config.ts";
import { seededRandom } from "../../lab/seeded-random.ts";
import { headBlockBytes, type CacheShape } from "../../src/backends/cpu/kernels/cache-write.ts";
import { assembleKernels } from "../../src/backends/cpu/kernels/kernels.ts";
import { integerBytes, SCRATCH_BYTES } from "../../src/backends/cpu/kernels/product.ts";
import { MemoryMap } from "../../src/backends/cpu/memory-map.ts";
import { packBand } from "../../src/backends/cpu/pack/pack-band.ts";
import { panelShape, strideOf, type PanelMatrix } from "../../src/backends/cpu/pack/panel-matrix.ts";
import type { Operation, RowArguments, RowKernel, Rows } from "../../src/backends/cpu/program/operation.ts";
import { ROW_WORDS, takeStepMemory } from "../../src/backends/cpu/program/step-memory.ts";
import { SAMPLE_WORDS, SampleView } from "../../src/backends/sample-record.ts";
import { RESULT_WORDS, takeSamplerMemory } from "../../src/backends/cpu/sampler/sampler.ts";
import { takeSyncMemory } from "../../src/backends/cpu/threads/sync-memory.ts";
import { layoutOf } from "./cpu.ts";
import type { SharedPlan } from "../../src/backends/cpu/threads/thread-body.ts";

export interface CpuModelOptions {
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
  readonly keyHeads: number;
  readonly inner: number;
  readonly vocabSize: number;
  readonly context: number;
  readonly style: "gpt2" | "llama";
  readonly dtype: FloatsDtype;
  /** ["f32"] */
  readonly activationDtype?: ActivationDtype;
  readonly cacheDtype: KvCacheDtype;
  readonly math: CpuMath;
  readonly maxRows: number;
  readonly maxSlots: number;
  readonly maxThreads: number;
  readonly isShared: boolean;
  /** A few random values over and over: quick, for models that are only measured. */
  readonly isForSpeed?: boolean;
}

export interface TestRow {
  readonly token: number;
  readonly position: number;
  readonly slot: number;
  readonly samples?: boolean;
}

const BLOCK_SIZE = 16;

export async function openCpuModel(options: CpuModelOptions) {
  const { layers, width, heads, keyHeads, inner, vocabSize, context, style, dtype, maxRows, maxSlots } = options;
  const { maxThreads, isShared } = options;
  const layout = layoutOf(dtype);
  const headSize = width / heads;
  const cache: CacheShape = { dtype: options.cacheDtype, headSize, blockSize: BLOCK_SIZE };
  const map = new MemoryMap();
  const random = seededRandom(7);
  const fills: ((buffer: ArrayBufferLike) => void)[] = [];

  const few = Float32Array.from({ length: 4096 }, () => random() * 2 - 1);
  const values = (count: number, scale: number) =>
    options.isForSpeed
      ? Float32Array.from({ length: count }, (_, i) => scale * (few[i & 4095] ?? 0))
      : Float32Array.from({ length: count }, () => scale * (random() * 2 - 1));
  const vector = (size: number, mean: number, scale: number) => {
    const address = map.take(4 * strideOf(size));
    const contents = values(size, scale).map((value) => value + mean);
    fills.push((buffer) => new Float32Array(buffer, address).set(contents));
    return address;
  };
  const matrix = (k: number, n: number): PanelMatrix => {
    const shape = panelShape(k, n, layout);
    const packed = { ...shape, address: map.take(shape.bytes) };
    fills.push((buffer) => {
      const band = { values: values(k * n, 2 / Math.sqrt(k)), columns: n, firstRow: 0 };
      packBand(buffer, packed, band, false);
    });
    return packed;
  };
  /** Columns of both matrices in twos: see backends/gate-weights.ts. */
  const gateMatrix = (k: number, n: number): PanelMatrix => {
    const columns = 4 * Math.ceil(n / 2);
    const shape = panelShape(k, columns, layout);
    const packed = { ...shape, address: map.take(shape.bytes) };
    fills.push((buffer) => {
      const joined = new Float32Array(k * columns);
      for (const place of [0, 2]) {
        values(k * n, 2 / Math.sqrt(k)).forEach((value, i) => {
          const column = i % n;
          joined[Math.floor(i / n) * columns + 4 * (column >> 1) + (column & 1) + place] = value;
        });
      }
      const band = { values: joined, columns, firstRow: 0 };
      packBand(buffer, packed, band, false);
    });
    return packed;
  };
  const rows = (size: number, count = maxRows): Rows => {
    const stride = 4 * strideOf(size);
    return { address: map.take(count * stride), stride };
  };

  const step = takeStepMemory(map, {
    maxRows,
    maxSamples: maxRows,
    maxSlots,
    maxBlocks: Math.ceil(context / BLOCK_SIZE),
    maxLength: context,
    numStates: 0,
  });
  const sampler = takeSamplerMemory(map, {
    vocabSize,
    maxSlots,
    maxSamples: maxRows,
    maxThreads,
    logprobsMode: "raw_logprobs",
  });
  const qkvWidth = (heads + 2 * keyHeads) * headSize;
  const [x, normed, qkv, attended] = [width, width, qkvWidth, width].map((size) => rows(size)) as [
    Rows,
    Rows,
    Rows,
    Rows,
  ];
  const [hidden, headInput, logits] = [rows(inner), rows(width), rows(vocabSize)];
  const table = matrix(width, vocabSize);
  const blockBytes = keyHeads * headBlockBytes(cache);
  const numBlocks = maxSlots * step.maxBlocks;
  const at = (place: Rows, column: number): Rows => ({ ...place, address: place.address + 4 * column });
  const norm = (to: Rows, of: "rows" | "samples" = "rows"): Operation => {
    const from = of === "rows" ? x : ({ ...x, by: "sampledRow" } as const);
    const gamma = vector(width, 1, 0.1);
    const size = [4 * strideOf(width), width, 1e-5];
    return style === "gpt2"
      ? { type: "eachRow", of, kernel: "layer_norm", args: [from, to, gamma, vector(width, 0, 0.1), ...size] }
      : { type: "eachRow", of, kernel: "rms_norm", args: [from, to, gamma, ...size] };
  };
  const eachRow = <K extends RowKernel>(kernel: K, ...args: RowArguments<K>): Operation => ({
    type: "eachRow",
    of: "rows",
    kernel,
    args,
  });
  const linear = (
    from: Rows,
    to: Rows,
    k: number,
    n: number,
    epilogue: "biasOnly" | "addToOutput" | "geluTanh" | "swiglu" = "biasOnly",
  ): Operation => ({
    type: "linear",
    of: "rows",
    x: from,
    w: epilogue === "swiglu" ? gateMatrix(k, n) : matrix(k, n),
    bias: style === "gpt2" ? vector(n, 0, 0.1) : 0,
    y: to,
    epilogue,
  });

  const angles = { address: map.take(4 * context * headSize), stride: 4 * headSize };
  fills.push((buffer) => {
    const floats = new Float32Array(buffer, angles.address);
    for (let i = 0; i < context * headSize; i++) {
      const [position, d] = [Math.floor(i / headSize), i % headSize];
      const angle = position * 10_000 ** (-(d % (headSize / 2)) / (headSize / 2));
      floats[i] = d < headSize / 2 ? Math.cos(angle) : Math.sin(angle);
    }
  });
  let positions: Rows | null = null;
  if (style === "gpt2") {
    const wpe = rows(width, context);
    fills.push((buffer) => new Float32Array(buffer, wpe.address).set(values((context * wpe.stride) / 4, 0.1)));
    if (width === strideOf(width)) positions = wpe;
  }
  const program: Operation[][] = [];
  let phase: Operation[] = [{ type: "embed", table: [{ firstToken: 0, panels: table }], scale: 1, y: x }];
  if (positions) phase.push(eachRow("add", x, { ...positions, by: "position" }, 4 * strideOf(width)));
  const meet = () => {
    program.push(phase);
    phase = [];
  };
  for (let layer = 0; layer < layers; layer++) {
    const layerCache = { keys: map.take(numBlocks * blockBytes), values: map.take(numBlocks * blockBytes), blockBytes };
    const [q, k, v] = [qkv, at(qkv, heads * headSize), at(qkv, (heads + keyHeads) * headSize)];
    phase.push(norm(normed));
    meet();
    phase.push(linear(normed, qkv, width, qkvWidth));
    meet();
    if (style === "llama") {
      const gamma = vector(headSize, 1, 0.1);
      for (let head = 0; head < heads; head++) {
        const own = at(q, head * headSize);
        phase.push(eachRow("rms_norm", own, own, gamma, 4 * headSize, headSize, 1e-6));
      }
      phase.push(eachRow("rotate", q, heads, { ...angles, by: "position" }));
      phase.push(eachRow("rotate", k, keyHeads, { ...angles, by: "position" }));
    }
    phase.push({ type: "cacheWrite", k, v, heads: keyHeads, cache: layerCache });
    meet();
    phase.push({
      type: "attend",
      q,
      y: attended,
      heads,
      keyHeads,
      headSize,
      scale: 1 / Math.sqrt(headSize),
      window: style === "llama" && layer % 2 === 1 ? 9 : null,
      cache: layerCache,
    });
    meet();
    phase.push(linear(attended, x, width, width, "addToOutput"));
    meet();
    phase.push(norm(normed));
    meet();
    phase.push(linear(normed, hidden, width, inner, style === "gpt2" ? "geluTanh" : "swiglu"));
    meet();
    phase.push(linear(hidden, x, inner, width, "addToOutput"));
    meet();
  }
  phase.push(norm(headInput, "samples"));
  meet();
  phase.push({ type: "linear", of: "samples", x: headInput, w: table, bias: 0, y: logits, epilogue: "biasOnly" });
  meet();
  phase.push({ type: "sample", logits });
  meet();
  phase.push({ type: "record" });
  meet();

  const pitch = 4 * (context + BLOCK_SIZE);
  const { activationDtype = "f32" } = options;
  const ofProducts =
    SCRATCH_BYTES + (activationDtype === "int8" ? integerBytes(Math.max(strideOf(width), strideOf(inner))) : 0);
  const scratchBytes = ofProducts + heads * pitch;
  const totals = map.take(maxThreads * scratchBytes);
  const sync = takeSyncMemory(map);
  const limits = { isShared, pages: map.pages };
  const memory = new WebAssembly.Memory({ initial: map.pages, maximum: map.pages, shared: isShared });
  const module = await WebAssembly.compile(
    assembleKernels({
      math: options.math,
      layouts: [layout],
      activationDtype,
      cache,
      queriesPerKey: heads / keyHeads,
      memory: limits,
    }),
  );
  for (const fill of fills) fill(memory.buffer);
  const view = new SampleView(memory.buffer);
  const words = new Uint32Array(memory.buffer);
  for (let i = 0; i < numBlocks; i++) words[step.tables / 4 + i] = numBlocks - 1 - i;
  const plan: SharedPlan = {
    module,
    memory,
    thread: { program, step, cache, scratch: { totals, scores: totals + ofProducts, pitch, bytes: scratchBytes } },
    sampler,
    sync,
  };

  return {
    plan,
    memory,
    /** Writes a step; each row that samples draws among the likeliest 95%, with its slot as the seed. */
    write(stepRows: readonly TestRow[], { temperature = 1 } = {}): void {
      let numSamples = 0;
      stepRows.forEach(({ token, position, slot, samples = false }, row) => {
        words.set([token, position, slot, 0], step.rows / 4 + row * ROW_WORDS);
        if (!samples) return;
        Object.assign(view, {
          at: step.samples / 4 + SAMPLE_WORDS * numSamples++,
          row,
          slot,
          numTop: 0,
          flags: 0,
          outputIndex: position + 1,
          promptLength: 0,
          temperature,
          topK: 0,
          topP: 0.95,
          minP: 0,
          typicalP: 1,
          seedLow: slot,
          seedHigh: 0,
          repetitionPenalty: 1,
          frequencyPenalty: 0,
          presencePenalty: 0,
          noRepeatNgramSize: 0,
          mask: 0,
          scoredToken: 0,
        });
      });
      words.set([stepRows.length, numSamples], step.head / 4);
    },
    logits(sample: number): Uint32Array {
      return new Uint32Array(memory.buffer, logits.address + sample * logits.stride, vocabSize).slice();
    },
    token(sample: number): number {
      return words[sampler.results / 4 + sample * RESULT_WORDS] ?? -1;
    },
  };
}

export type CpuModel = Awaited<ReturnType<typeof openCpuModel>>;
