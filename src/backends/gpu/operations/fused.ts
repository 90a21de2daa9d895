import type { Norm, Value } from "../../../models/graph.ts";
import { headSummarises } from "../activations.ts";
import { GPU_LANES } from "../kernels/delta-net.ts";
import { Epilogue, matmulSkinny } from "../kernels/matmul.ts";
import { firstMatmul, normShape } from "../matmul-variants.ts";
import { splitAttention } from "./attention.ts";
import { convolution } from "./convolution.ts";
import { deltaNet, gateOutput } from "./delta-net.ts";
import { embedding } from "./embedding.ts";
import { normalisation, normDispatch } from "./normalisation.ts";
import { valueOf, type OperationContext, type Operations } from "./operations.ts";
import { compileProduct, productOperations } from "./products.ts";
import { rotations } from "./rotation.ts";

const ROTARY_LANES = 32;

/**
 * Operations of the fused style: products of few rows normalise their input themselves, attention writes the cache, and the
 * head summarises each 32 logits for the sampler.
 */
export function fusedOperations(context: OperationContext): Operations {
  const { compiler, graph, buffers, activations, step } = context;
  const first = firstMatmul(context.matmuls, "fused");
  const isFused = context.integerMatmuls === null;
  const norms = new Map<Value, Norm>();
  for (const operation of isFused ? graph.operations : []) {
    if (operation.type === "norm" && !operation.addsToOutput) norms.set(operation.output, operation);
  }
  return {
    embed: (operation) => embedding(context, operation),
    norm: async (operation) => (norms.has(operation.output) ? [] : [await normalisation(context, operation)]),
    rotary: rotations(context, { lanes: ROTARY_LANES }),
    attention: async (operation) => [await splitAttention(context, operation)],
    shortConv: async (operation) => [await convolution(context, operation)],
    deltaNet: async (operation) => [await deltaNet(context, operation, GPU_LANES)],
    outputGate: async (operation) => [await gateOutput(context, operation)],

    ...productOperations(
      context,
      headSummarises(graph, { style: "fused", ...context.engine }) ? Epilogue.head : Epilogue.biasOnly,
      ({ input, head = null, ...product }) => {
        const { w, bias } = product.weights;
        const norm = norms.get(input);
        const x = activations.buffer(norm?.input ?? input);
        const bound = {
          w,
          bias,
          norm: norm ? buffers.norm(norm.norm) : bias,
          samples: step.samples,
          y: product.y,
          logit_parts: activations.logitParts,
          step: step.step,
        };
        const bindGroup = compiler.bind(matmulSkinny, { x, ...bound });
        const ownNorm = norm && {
          bindGroup: compiler.bind(matmulSkinny, { x: activations.normed, ...bound }),
          dispatch: () => normDispatch(context, norm, activations.normed),
        };
        const extras = { norm: norm ? normShape(norm.norm, valueOf(context, input).width) : null, head };
        return compileProduct(context, { ...product, x, first, bindGroup, extras, ownNorm });
      },
    ),
  };
}
