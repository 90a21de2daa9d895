import type { Value } from "../../../models/graph.ts";
import { attentionQuad, cacheWrite, quadShares, usesQuads } from "../kernels/attention.ts";
import { Epilogue, matmulLane } from "../kernels/matmul.ts";
import type { LinearBuffers } from "../model-buffers.ts";
import { strideOf } from "../padding.ts";
import { attentionAlone, boundBuffers, windowOf } from "./attention.ts";
import { embedding } from "./embedding.ts";
import { always, cacheConstants, type OperationContext, type Operations } from "./operations.ts";
import { normalisation } from "./normalisation.ts";
import { activationEpilogue, compileProduct, productsOfGate } from "./products.ts";
import { rotations } from "./rotation.ts";

const CACHE_WRITE_LANES = 64;
/** One subgroup, so that its barrier costs nothing. */
const ROTARY_LANES = 4;

/**
 * Operations for adapters that compute on the CPU. Workgroup memory and barriers are dear there and a dispatch is cheap: so
 * norms are dispatches of their own, and with subgroups attention finds all it reads in the cache.
 */
export function softwareOperations(context: OperationContext, adapter: { hasSubgroups: boolean }): Operations {
  const { compiler, shape, buffers, activations, step } = context;

  const product = (
    label: string,
    weights: LinearBuffers,
    x: Value,
    y: GPUBuffer | GPUBufferBinding,
    epilogue: number,
    options: { samplesOnly?: boolean; Y4?: number } = {},
  ) => {
    const { w, bias } = weights;
    const bound = { x: activations.buffer(x), w, bias, y, step: step.step };
    const bindGroup = compiler.bind(matmulLane, bound);
    return compileProduct(context, { label, weights, epilogue, bindGroup, extras: {}, ...options });
  };

  return {
    embed: (operation) => embedding(context, operation),
    rotary: rotations(context, { lanes: ROTARY_LANES }),

    norm: async (operation) => [await normalisation(context, operation)],

    async linear({ label, linear, input, output, activation, addsToOutput }) {
      const epilogue = addsToOutput ? Epilogue.addToOutput : activationEpilogue(activation);
      return [await product(label, buffers.linear(linear), input, activations.buffer(output), epilogue)];
    },

    gate: (operation) =>
      Promise.all(
        productsOfGate(context, operation).map(({ weights, y, epilogue, Y4 }) =>
          product(operation.label, weights, operation.input, y, epilogue, { Y4 }),
        ),
      ),

    async attention(operation) {
      const constants = cacheConstants(context);
      if (!usesQuads(adapter, constants.HEAD_VEC4)) return [await attentionAlone(context, operation)];
      const bound = boundBuffers(context, operation);
      const scores = { SCALE: operation.scale, WINDOW: windowOf(operation) };
      const { numHeads, numKvHeads } = shape;
      const { workgroups, ...shares } = quadShares(numHeads, numKvHeads);
      const kind = { Y_STRIDE: strideOf(numHeads * shape.headDim), ...scores, ...shares };
      const [write, attend] = await Promise.all([
        compiler.pipeline(cacheWrite, { ...constants, LANES: CACHE_WRITE_LANES }),
        compiler.pipeline(attentionQuad, { ...constants, ...kind }),
      ]);
      return [
        always(
          {
            name: `${operation.label}: cache write`,
            pipeline: write,
            bindGroup: compiler.bind(cacheWrite, bound),
            workgroups: (size) => [Math.ceil((numKvHeads * constants.HEAD_VEC4) / CACHE_WRITE_LANES), size.rows],
          },
          {
            name: operation.label,
            pipeline: attend,
            bindGroup: compiler.bind(attentionQuad, bound),
            workgroups: (size) => [workgroups, size.rows],
          },
        ),
      ];
    },

    head: ({ label, table, input }) =>
      Promise.all(
        buffers.table(table).map((part) => {
          const y = { buffer: activations.logits, offset: 4 * part.firstRow };
          const Y4 = strideOf(shape.vocabSize) / 4;
          return product(label, part, input, y, Epilogue.biasOnly, { samplesOnly: true, Y4 });
        }),
      ),
  };
}
