import type { Value } from "../../../models/graph.ts";
import { paddedHeadDim } from "../../../protocol/model-shape.ts";
import { usesQuads } from "../kernels/attention.ts";
import { Epilogue, matmulAny, matmulLane } from "../kernels/matmul.ts";
import { firstMatmul, packProduct, type MatmulShape } from "../matmul-variants.ts";
import type { LinearBuffers } from "../model-buffers.ts";
import { strideOf } from "../padding.ts";
import { attentionAlone } from "./attention.ts";
import { embedding } from "./embedding.ts";
import { normalisation } from "./normalisation.ts";
import type { OperationContext, Operations } from "./operations.ts";
import { activationEpilogue, compileProduct, productsOfGate } from "./products.ts";
import { quadAttention } from "./quad-attention.ts";
import { rotations } from "./rotation.ts";

/** One subgroup, so that its barrier costs nothing. */
const ROTARY_LANES = 4;

/**
 * Operations for adapters that compute on the CPU. Workgroup memory and barriers are dear there and a dispatch is cheap: so
 * norms are dispatches of their own, and with subgroups attention finds all it reads in the cache.
 */
export function softwareOperations(context: OperationContext, adapter: { hasSubgroups: boolean }): Operations {
  const { arena, compiler, shape, buffers, activations, step } = context;
  const first = firstMatmul(context.matmuls, true);

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
    const bindFirst = (shapeOfProduct: MatmulShape) =>
      compiler.bind(matmulAny, { ...bound, product: arena.uniform(`product ${label}`, packProduct(shapeOfProduct)) });
    const tried = { x: bound.x, y, first, bindGroup, bindFirst };
    return compileProduct(context, { label, weights, epilogue, extras: {}, ...tried, ...options });
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

    attention: async (operation) => [
      await (usesQuads(adapter, paddedHeadDim(shape) / 4)
        ? quadAttention(context, operation)
        : attentionAlone(context, operation)),
    ],

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
