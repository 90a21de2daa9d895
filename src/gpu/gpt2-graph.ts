import { attentionScale, type Gpt2Config } from "../model/gpt2-config.ts";
import type { ResolvedEngineConfig } from "../protocol/config.ts";
import { headVec4, type Activations, type Gpt2Buffers, type LinearBuffers, type TableBuffers } from "./gpt2-buffers.ts";
import type { Dispatch, KernelCompiler } from "./kernel.ts";
import { attention, attentionQuad, attentionTile, QUAD_HEAD_VEC4, quadHeads } from "./kernels/attention.ts";
import { embed } from "./kernels/embed.ts";
import { layerNorm } from "./kernels/layer-norm.ts";
import { Epilogue, matmulLane, matmulSkinny } from "./kernels/matmul.ts";
import type { AdapterTraits, MatmulShape, MatmulVariant } from "./matmul-variants.ts";
import { weightsDtypeCode } from "./weights-dtype.ts";
import { strideOf } from "./padding.ts";
import type { StepBuffer } from "./step-buffer.ts";

/** An operation of the model: one dispatch, or one a matmul variant, of which the step's rows choose. */
type Operation = Dispatch | readonly Dispatch[];

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
  readonly #maxRows: readonly number[];

  private constructor(body: readonly Operation[], head: readonly Operation[], maxRows: readonly number[]) {
    this.#body = body;
    this.#head = head;
    this.#maxRows = maxRows;
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
    const maxRows = parts.matmuls.map((variant) => variant.maxRows);
    return new Gpt2Graph(await Promise.all(body), await Promise.all(head), maxRows);
  }

  /** The dispatches of a step, in order. A step that samples nothing has no head. */
  *dispatches(rows: number, samples: number): Generator<Dispatch> {
    const variant = this.#variantFor(rows);
    for (const operation of this.#body) yield "pipeline" in operation ? operation : at(operation, variant);
    if (samples === 0) return;
    const headVariant = this.#variantFor(samples);
    for (const operation of this.#head) yield "pipeline" in operation ? operation : at(operation, headVariant);
  }

  #variantFor(rows: number): number {
    return this.#maxRows.findIndex((maxRows) => rows <= maxRows);
  }
}

function at(variants: readonly Dispatch[], index: number): Dispatch {
  const dispatch = variants[index];
  if (!dispatch) throw new Error(`no matmul variant ${index}`);
  return dispatch;
}

const EMBED_LANES = 64;

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
  const normShape = { WIDTH: nEmbd, EPSILON: model.layerNormEpsilon };

  /** LayerNorm of x, as a dispatch of its own. */
  async function layerNormOf(name: string, norm: GPUBuffer, y: GPUBuffer, SAMPLES_ONLY: boolean): Promise<Operation> {
    return {
      name,
      pipeline: await compiler.pipeline(layerNorm, { ...normShape, K4: strideOf(nEmbd) / 4, SAMPLES_ONLY }),
      bindGroup: compiler.bind(layerNorm, { x: activations.x, norm, samples, y }),
      workgroups: (numRows, numSamples) => [SAMPLES_ONLY ? numSamples : numRows, 1],
    };
  }

  async function matmul(
    name: string,
    { w, bias, K4, N4 }: LinearBuffers,
    { x, norm }: MatmulInput,
    y: GPUBuffer | GPUBufferBinding,
    EPILOGUE: number,
    { samplesOnly = false, Y4 = N4 } = {},
  ): Promise<Operation> {
    const shape: MatmulShape = { K4, N4, Y4, SAMPLES_ONLY: samplesOnly, WEIGHTS_DTYPE, EPILOGUE };
    // The kernels of an adapter have the same bindings, and so one bind group serves every variant.
    const bindGroup = isSoftware
      ? compiler.bind(matmulLane, { x, w, bias, y, step: step.step })
      : compiler.bind(matmulSkinny, { x, w, bias, norm: norm ?? bias, samples, y, step: step.step });
    return Promise.all(
      matmuls.map(async (variant) => ({
        name,
        pipeline: await variant.pipeline(compiler, shape, norm && normShape),
        bindGroup,
        workgroups: (numRows: number, numSamples: number) =>
          variant.workgroups(shape, samplesOnly ? numSamples : numRows),
      })),
    );
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

    /** A part writes its own columns of the logits. */
    async head(part: TableBuffers, input: MatmulInput): Promise<Operation> {
      const y = { buffer: activations.logits, offset: 4 * part.firstRow };
      const samplesOnly = { samplesOnly: true, Y4: strideOf(model.vocabSize) / 4 };
      return matmul("head", part, input, y, Epilogue.biasOnly, samplesOnly);
    },

    async embed({ w, K4, N4, firstRow: FIRST_TOKEN }: TableBuffers): Promise<Operation> {
      return {
        name: "embed",
        pipeline: await compiler.pipeline(embed, { LANES: EMBED_LANES, K4, N4, FIRST_TOKEN, WEIGHTS_DTYPE }),
        bindGroup: compiler.bind(embed, {
          w,
          wpe: buffers.wpe,
          rows,
          feedback: activations.feedback,
          x: activations.x,
        }),
        workgroups: (numRows) => [Math.ceil((4 * K4) / EMBED_LANES), numRows],
      };
    },

    async attention(name: string, key_cache: GPUBuffer, value_cache: GPUBuffer, SCALE: number): Promise<Operation> {
      const constants = { ...cache, Y_STRIDE: strideOf(nEmbd), SCALE };
      const bound = { qkv: activations.qkv, rows, block_tables, key_cache, value_cache, y: activations.attended };
      if (adapter.isSoftware && adapter.hasSubgroups && cache.HEAD_VEC4 <= QUAD_HEAD_VEC4) {
        const perGroup = quadHeads(nHead);
        return {
          name,
          pipeline: await compiler.pipeline(attentionQuad, { ...constants, LANES: 4 * perGroup }),
          bindGroup: compiler.bind(attentionQuad, bound),
          workgroups: (numRows) => [Math.ceil(nHead / perGroup), numRows],
        };
      }
      return {
        name,
        pipeline: await compiler.pipeline(attention, { ...constants, ...attentionTile(cache.HEAD_VEC4) }),
        bindGroup: compiler.bind(attention, bound),
        workgroups: (numRows) => [nHead, numRows],
      };
    },
  };
}
