import type { Norm, Value } from "../../../models/graph.ts";
import { paddedHeadDim } from "../../../protocol/model-shape.ts";
import { headSummarises } from "../activations.ts";
import type { KernelTraits } from "../kernel-style.ts";
import { usesQuads } from "../kernels/attention.ts";
import { GPU_LANES, PLAIN_LANES } from "../kernels/delta-net.ts";
import { Epilogue } from "../../epilogues.ts";
import { matmulAny, matmulLane, matmulSkinny } from "../kernels/kernels.ts";
import { firstMatmuls, normShape, packProduct, type MatmulShape } from "../matmul-variants.ts";
import { attentionAlone, splitAttention } from "./attention.ts";
import { convolution } from "./convolution.ts";
import { deltaNet, gateOutput } from "./delta-net.ts";
import { embedding } from "./embedding.ts";
import { normalisation, normDispatch } from "./normalisation.ts";
import { valueOf, type CompiledOperation, type OperationContext, type Operations } from "./operations.ts";
import { compileProduct, fusedBuffers, productOperations, type ProductOfGraph } from "./products.ts";
import { quadAttention } from "./quad-attention.ts";
import { rotations } from "./rotation.ts";

/** Lanes of a head's workgroup. In the plain style one subgroup, so that its barrier costs nothing. */
const ROTARY_LANES = { fused: 32, plain: 4 };

/**
 * Returns the operations of a style. In the fused style products of few rows normalise their input themselves, attention writes
 * the cache, and the head summarises each 32 logits for the sampler. In the plain style norms are dispatches of their own, and
 * with subgroups attention reads only the cache.
 */
export function operationsOf(context: OperationContext, traits: KernelTraits): Operations {
  const { style } = traits;
  const isPlain = style === "plain";
  const fusesNorms = !isPlain && context.integerMatmuls === null;
  const norms = new Map<Value, Norm>();
  for (const operation of fusesNorms ? context.graph.operations : []) {
    if (operation.type === "norm" && !operation.addsToOutput) norms.set(operation.output, operation);
  }
  const alone = usesQuads(traits, paddedHeadDim(context.shape) / 4) ? quadAttention : attentionAlone;
  const attention = isPlain ? alone : splitAttention;
  const headEpilogue = headSummarises(context.graph, { style, ...context.engine }) ? Epilogue.head : Epilogue.biasOnly;
  return {
    embed: (operation) => embedding(context, operation),
    norm: async (operation) => (norms.has(operation.output) ? [] : normalisation(context, operation)),
    rotary: rotations(context, { lanes: ROTARY_LANES[style] }),
    attention: (operation) => attention(context, operation),
    shortConv: (operation) => convolution(context, operation),
    deltaNet: (operation) => deltaNet(context, operation, isPlain ? PLAIN_LANES : GPU_LANES),
    outputGate: (operation) => gateOutput(context, operation),
    ...productOperations(context, headEpilogue, (product) =>
      isPlain ? plainProduct(context, product) : fusedProduct(context, product, norms.get(product.input) ?? null),
    ),
  };
}

function plainProduct(context: OperationContext, { input, ...product }: ProductOfGraph): Promise<CompiledOperation> {
  const { arena, compiler, activations, step } = context;
  const { w, bias } = product.weights;
  const x = activations.buffer(input);
  const bound = { x, w, bias, y: product.y, step: step.step };
  const bindFirst = (shape: MatmulShape) => {
    const packed = arena.uniform(`product ${product.label}`, packProduct(shape));
    return compiler.bind(matmulAny, { ...bound, product: packed });
  };
  const firsts = firstMatmuls(context.matmuls, "plain");
  const bindGroup = compiler.bind(matmulLane, bound);
  return compileProduct(context, { ...product, x, firsts, bindGroup, bindFirst, extras: {} });
}

/** @param norm the one before the product, which it computes itself */
function fusedProduct(context: OperationContext, { input, head, ...product }: ProductOfGraph, norm: Norm | null) {
  const { compiler, activations } = context;
  const x = activations.buffer(norm?.input ?? input);
  const bound = fusedBuffers(context, product, norm);
  const bindGroup = compiler.bind(matmulSkinny, { x, ...bound });
  const ownNorm = norm
    ? {
        bindGroup: compiler.bind(matmulSkinny, { x: activations.normed, ...bound }),
        dispatch: () => normDispatch(context, norm, activations.normed),
      }
    : undefined;
  const extras = { norm: norm ? normShape(norm.norm, valueOf(context, input).width) : null, head: head ?? null };
  const firsts = firstMatmuls(context.matmuls, "fused");
  return compileProduct(context, { ...product, x, firsts, bindGroup, extras, ownNorm });
}
