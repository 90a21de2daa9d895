import { attentionScale, type Gpt2Config } from "../../models/gpt2/gpt2-config.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { headVec4, type Activations, type Gpt2Buffers, type LinearBuffers, type TableBuffers } from "./gpt2-buffers.ts";
import type { Dispatch, KernelBuffers, KernelCompiler, StepSize } from "./kernel.ts";
import {
  attention,
  attentionMerge,
  attentionQuad,
  attentionTile,
  cacheWrite,
  isSplit,
  maxSplits,
  QUAD_HEAD_VEC4,
  quadHeads,
} from "./kernels/attention.ts";
import { embed } from "./kernels/embed.ts";
import { layerNorm } from "./kernels/layer-norm.ts";
import { Epilogue, matmulLane, matmulSkinny } from "./kernels/matmul.ts";
import type { AdapterTraits, HeadShape, MatmulShape, MatmulVariant } from "./matmul-variants.ts";
import { weightsDtypeCode } from "./weights-dtype.ts";
import { strideOf } from "./padding.ts";
import type { StepBuffer } from "./step-buffer.ts";

/** An operation of the model: the dispatches that a step of this size needs. None is made in the loop. */
type Operation = (step: StepSize) => readonly Dispatch[];

/** What a product multiplies: rows of x, or of LayerNorm(x) where its kernel is to normalise them. */
interface MatmulInput {
  readonly x: GPUBuffer;
  /** Gamma, then beta. */
  readonly norm: GPUBuffer | null;
}

export interface Gpt2GraphParts {
  readonly compiler: KernelCompiler;
  readonly model: Gpt2Config;
  readonly engine: ResolvedEngineConfig;
  readonly buffers: Gpt2Buffers;
  readonly activations: Activations;
  readonly step: StepBuffer;
  readonly adapter: AdapterTraits;
  /** By ascending rows: see matmul-variants.ts. */
  readonly matmuls: readonly MatmulVariant[];
}

/**
 * GPT-2 as a list of dispatches, compiled and bound before the first step. A step of any mixture of prompt and decode
 * rows walks the same list.
 */
export class Gpt2Graph {
  readonly #body: readonly Operation[];
  readonly #head: readonly Operation[];

  private constructor(body: readonly Operation[], head: readonly Operation[]) {
    this.#body = body;
    this.#head = head;
  }

  static async prepare(parts: Gpt2GraphParts): Promise<Gpt2Graph> {
    const { model, buffers, activations: a } = parts;
    const gelu = model.activation === "gelu" ? Epilogue.geluErf : Epilogue.geluTanh;
    const op = operations(parts);

    const body = buffers.embedding.map((part) => op.embed(part));
    buffers.layers.forEach((layer, i) => {
      const name = `layer ${i}`;
      const ln1 = op.normed(`${name} ln1`, layer.ln1, a.normed);
      const ln2 = op.normed(`${name} ln2`, layer.ln2, a.normed);
      body.push(
        ...ln1.operations,
        op.matmul(`${name} qkv`, layer.qkv, ln1.input, a.qkv, Epilogue.biasOnly),
        op.attention(`${name} attention`, layer.keyCache, layer.valueCache, attentionScale(model, i)),
        op.matmul(`${name} proj`, layer.proj, { x: a.attended, norm: null }, a.x, Epilogue.addToOutput),
        ...ln2.operations,
        op.matmul(`${name} fc`, layer.fc, ln2.input, a.hidden, gelu),
        op.matmul(`${name} fcProj`, layer.fcProj, { x: a.hidden, norm: null }, a.x, Epilogue.addToOutput),
      );
    });
    const lnF = op.normed("lnF", buffers.lnF, a.headInput, { samplesOnly: true });
    const head = [...lnF.operations, ...buffers.head.map((part) => op.head(part, lnF.input))];
    return new Gpt2Graph(await Promise.all(body), await Promise.all(head));
  }

  /** The dispatches of a step, in order. A step that samples nothing has no head. */
  *dispatches(step: StepSize): Generator<Dispatch> {
    for (const operation of this.#body) yield* operation(step);
    if (step.samples === 0) return;
    for (const operation of this.#head) yield* operation(step);
  }
}

/** An operation that is one dispatch, whatever the step. */
function always(dispatch: Dispatch): Operation {
  const only = [dispatch];
  return () => only;
}

const EMBED_LANES = 64;
const MERGE_LANES = 64;
const CACHE_WRITE_LANES = 64;

/** How each operation of the model is compiled and bound. */
function operations({ compiler, model, engine, buffers, activations, step, adapter, matmuls }: Gpt2GraphParts) {
  const { isSoftware } = adapter;
  const { nEmbd, nHead, headDim } = model;
  const WEIGHTS_DTYPE = weightsDtypeCode[engine.dtype];
  const cache = {
    HEADS: nHead,
    HEAD_VEC4: headVec4(model),
    BLOCK_SIZE: engine.blockSize,
    MAX_BLOCKS: Math.ceil(engine.maxModelLen / engine.blockSize),
    CACHE_F16: engine.kvCacheDtype === "f16",
    HEAD_SIZE: headDim,
    QKV_STRIDE: strideOf(3 * nEmbd),
  };
  const { rows, samples, blockTables: block_tables } = step;
  const logit_parts = activations.logitParts;
  const normShape = { WIDTH: nEmbd, EPSILON: model.layerNormEpsilon };

  /** LayerNorm of x, as a dispatch of its own. */
  async function layerNormOf(name: string, norm: GPUBuffer, y: GPUBuffer, SAMPLES_ONLY: boolean): Promise<Operation> {
    return always({
      name,
      pipeline: await compiler.pipeline(layerNorm, { ...normShape, K4: strideOf(nEmbd) / 4, SAMPLES_ONLY }),
      bindGroup: compiler.bind(layerNorm, { x: activations.x, norm, samples, y }),
      workgroups: (size) => [SAMPLES_ONLY ? size.samples : size.rows, 1],
    });
  }

  async function matmul(
    name: string,
    { w, bias, K4, N4 }: LinearBuffers,
    { x, norm }: MatmulInput,
    y: GPUBuffer | GPUBufferBinding,
    EPILOGUE: number,
    { samplesOnly = false, Y4 = N4, head = null as HeadShape | null } = {},
  ): Promise<Operation> {
    const shape: MatmulShape = { K4, N4, Y4, SAMPLES_ONLY: samplesOnly, WEIGHTS_DTYPE, EPILOGUE };
    // The kernels of an adapter have the same bindings, and so one bind group serves every variant.
    const bindGroup = isSoftware
      ? compiler.bind(matmulLane, { x, w, bias, y, step: step.step })
      : compiler.bind(matmulSkinny, { x, w, bias, norm: norm ?? bias, samples, y, logit_parts, step: step.step });
    const height = (size: StepSize) => (samplesOnly ? size.samples : size.rows);
    const variants = await Promise.all(
      matmuls.map(async (variant): Promise<{ maxRows: number; dispatches: readonly Dispatch[] }> => {
        const pipeline = await variant.pipeline(compiler, shape, { norm: norm && normShape, head });
        const workgroups = (size: StepSize) => variant.workgroups(shape, height(size));
        return { maxRows: variant.maxRows, dispatches: [{ name, pipeline, bindGroup, workgroups }] };
      }),
    );
    return (size) => {
      const variant = variants.find(({ maxRows }) => height(size) <= maxRows);
      if (!variant) throw new Error(`no kernel for a product of ${height(size)} rows`);
      return variant.dispatches;
    };
  }

  /** By one workgroup a row and head, or in splits. */
  async function splitAttention(
    name: string,
    constants: typeof cache & { Y_STRIDE: number; SCALE: number },
    bound: KernelBuffers<typeof attention>,
  ): Promise<Operation> {
    const { HEADS, HEAD_SIZE, HEAD_VEC4, Y_STRIDE } = constants;
    const { SPLIT, ...tile } = attentionTile(HEAD_VEC4);
    const splits = { SPLIT, MAX_SPLITS: maxSplits(HEAD_VEC4, engine.maxModelLen) };
    const merged = { ...splits, LANES: MERGE_LANES, HEADS, HEAD_SIZE, HEAD_VEC4, Y_STRIDE };
    const whole: Dispatch = {
      name,
      pipeline: await compiler.pipeline(attention, { ...constants, ...tile, ...splits, ALONE: true }),
      bindGroup: compiler.bind(attention, bound),
      workgroups: (size) => [HEADS, size.rows],
    };
    // A software adapter has few cores to leave idle, and more workgroups cost it more.
    if (isSoftware || !isSplit(1, engine.maxModelLen)) return always(whole);
    const [inSplits, merge] = await Promise.all([
      compiler.pipeline(attention, { ...constants, ...tile, ...splits, ALONE: false }),
      compiler.pipeline(attentionMerge, merged),
    ]);
    const parts = activations.attentionParts;
    const split: Dispatch = {
      name: `${name} in splits`,
      pipeline: inSplits,
      bindGroup: compiler.bind(attention, { ...bound, y: parts }),
      workgroups: (size) => [HEADS, size.rows, Math.ceil(size.longest / SPLIT)],
    };
    const join: Dispatch = {
      name,
      pipeline: merge,
      bindGroup: compiler.bind(attentionMerge, { parts, rows, y: activations.attended }),
      workgroups: (size) => [Math.ceil((HEADS * HEAD_VEC4) / MERGE_LANES), size.rows],
    };
    const [together, apart] = [[whole], [split, join]];
    return (size) => (isSplit(size.rows, size.longest) ? apart : together);
  }

  /** From the cache alone, once the step's rows have written theirs. */
  async function quadAttention(
    name: string,
    constants: typeof cache & { Y_STRIDE: number; SCALE: number },
    bound: KernelBuffers<typeof attention>,
  ): Promise<Operation> {
    const perGroup = quadHeads(nHead);
    const [write, attend] = await Promise.all([
      compiler.pipeline(cacheWrite, { ...cache, LANES: CACHE_WRITE_LANES }),
      compiler.pipeline(attentionQuad, { ...constants, LANES: 4 * perGroup }),
    ]);
    const dispatches: readonly Dispatch[] = [
      {
        name: `${name}: cache write`,
        pipeline: write,
        bindGroup: compiler.bind(cacheWrite, bound),
        workgroups: (size) => [Math.ceil((nHead * cache.HEAD_VEC4) / CACHE_WRITE_LANES), size.rows],
      },
      {
        name,
        pipeline: attend,
        bindGroup: compiler.bind(attentionQuad, bound),
        workgroups: (size) => [Math.ceil(nHead / perGroup), size.rows],
      },
    ];
    return () => dispatches;
  }

  return {
    matmul,

    /**
     * LayerNorm(x) for products to multiply. On GPUs their kernels normalise the rows themselves, each workgroup anew, to
     * save a dispatch; on software adapters, where one is cheap, a dispatch writes it to `y`.
     */
    normed(
      name: string,
      norm: GPUBuffer,
      y: GPUBuffer,
      { samplesOnly = false } = {},
    ): { operations: readonly Promise<Operation>[]; input: MatmulInput } {
      if (!isSoftware) return { operations: [], input: { x: activations.x, norm } };
      return { operations: [layerNormOf(name, norm, y, samplesOnly)], input: { x: y, norm: null } };
    },

    /** A part writes its own columns of the logits, and on GPUs says of each 32 what the sampler wants to know. */
    async head(part: TableBuffers, input: MatmulInput): Promise<Operation> {
      const y = { buffer: activations.logits, offset: 4 * part.firstRow };
      const ofSamples = { samplesOnly: true, Y4: strideOf(model.vocabSize) / 4 };
      if (isSoftware) return matmul("head", part, input, y, Epilogue.biasOnly, ofSamples);
      const head = { VOCABULARY: model.vocabSize, FIRST_TOKEN: part.firstRow };
      return matmul("head", part, input, y, Epilogue.head, { ...ofSamples, head });
    },

    async embed({ w, K4, N4, firstRow: FIRST_TOKEN }: TableBuffers): Promise<Operation> {
      return always({
        name: "embed",
        pipeline: await compiler.pipeline(embed, { LANES: EMBED_LANES, K4, N4, FIRST_TOKEN, WEIGHTS_DTYPE }),
        bindGroup: compiler.bind(embed, {
          w,
          wpe: buffers.wpe,
          rows,
          feedback: activations.feedback,
          x: activations.x,
        }),
        workgroups: (size) => [Math.ceil((4 * K4) / EMBED_LANES), size.rows],
      });
    },

    async attention(name: string, key_cache: GPUBuffer, value_cache: GPUBuffer, SCALE: number): Promise<Operation> {
      const constants = { ...cache, Y_STRIDE: strideOf(nEmbd), SCALE };
      const bound = { qkv: activations.qkv, rows, block_tables, key_cache, value_cache, y: activations.attended };
      if (adapter.isSoftware && adapter.hasSubgroups && cache.HEAD_VEC4 <= QUAD_HEAD_VEC4) {
        return quadAttention(name, constants, bound);
      }
      return splitAttention(name, constants, bound);
    },
  };
}
