import type { Norm, Value } from "../../../models/graph.ts";
import { Epilogue, matmulSkinny } from "../kernels/matmul.ts";
import { firstMatmul, normShape, type HeadShape } from "../matmul-variants.ts";
import type { LinearBuffers } from "../model-buffers.ts";
import { strideOf } from "../padding.ts";
import { splitAttention } from "./attention.ts";
import { embedding } from "./embedding.ts";
import { normalisation } from "./normalisation.ts";
import { valueOf, type OperationContext, type Operations } from "./operations.ts";
import { activationEpilogue, compileProduct, productsOfGate } from "./products.ts";
import { rotations } from "./rotation.ts";

const ROTARY_LANES = 32;

/**
 * Operations for GPUs, where a dispatch costs more than a workgroup that normalises its rows: products normalise their
 * input themselves, attention writes the cache, and the head begins to draw.
 */
export function hardwareOperations(context: OperationContext): Operations {
  const { compiler, graph, shape, vocabSize, buffers, activations, step } = context;
  const first = firstMatmul(context.matmuls, false);
  const norms = new Map<Value, Norm>();
  for (const operation of graph.operations) {
    if (operation.type === "norm" && !operation.addsToOutput) norms.set(operation.output, operation);
  }

  const product = (
    label: string,
    weights: LinearBuffers,
    input: Value,
    y: GPUBuffer | GPUBufferBinding,
    epilogue: number,
    options: { samplesOnly?: boolean; Y4?: number; head?: HeadShape } = {},
  ) => {
    const { w, bias } = weights;
    const norm = norms.get(input);
    const bound = {
      x: activations.buffer(norm?.input ?? input),
      w,
      bias,
      norm: norm ? buffers.norm(norm.norm) : bias,
      samples: step.samples,
      y,
      logit_parts: activations.logitParts,
      step: step.step,
    };
    const bindGroup = compiler.bind(matmulSkinny, bound);
    const extras = {
      norm: norm ? normShape(norm.norm, valueOf(context, input).width) : null,
      head: options.head ?? null,
    };
    const tried = { bindGroup, x: bound.x, y, first };
    return compileProduct(context, { label, weights, epilogue, extras, ...tried, ...options });
  };

  return {
    embed: (operation) => embedding(context, operation),
    norm: async (operation) => (operation.addsToOutput ? [await normalisation(context, operation)] : []),
    rotary: rotations(context, { lanes: ROTARY_LANES }),
    attention: async (operation) => [await splitAttention(context, operation)],

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

    /** A part writes its own columns of the logits, and sums up each 32 of them for the sampler. */
    head: ({ label, table, input }) =>
      Promise.all(
        buffers.table(table).map((part) => {
          const y = { buffer: activations.logits, offset: 4 * part.firstRow };
          const head = { VOCABULARY: vocabSize, FIRST_TOKEN: part.firstRow };
          const Y4 = strideOf(shape.vocabSize) / 4;
          return product(label, part, input, y, Epilogue.head, { samplesOnly: true, Y4, head });
        }),
      ),
  };
}
