import { paddedHeadDim } from "../../../protocol/model-shape.ts";
import type { KernelTraits } from "../kernel-style.ts";
import { usesQuads } from "../kernels/attention.ts";
import { PLAIN_LANES } from "../kernels/delta-net.ts";
import { Epilogue, matmulAny, matmulLane } from "../kernels/matmul.ts";
import { firstMatmul, packProduct, type MatmulShape } from "../matmul-variants.ts";
import { attentionAlone } from "./attention.ts";
import { convolution } from "./convolution.ts";
import { deltaNet, gateOutput } from "./delta-net.ts";
import { embedding } from "./embedding.ts";
import { normalisation } from "./normalisation.ts";
import type { OperationContext, Operations } from "./operations.ts";
import { compileProduct, productOperations } from "./products.ts";
import { quadAttention } from "./quad-attention.ts";
import { rotations } from "./rotation.ts";

/** One subgroup, so that its barrier costs nothing. */
const ROTARY_LANES = 4;

/** Operations of the plain style: norms are dispatches of their own, and with subgroups attention reads only the cache. */
export function plainOperations(context: OperationContext, traits: Pick<KernelTraits, "hasSubgroups">): Operations {
  const { arena, compiler, shape, activations, step } = context;
  const first = firstMatmul(context.matmuls, "plain");
  const attention = usesQuads(traits, paddedHeadDim(shape) / 4) ? quadAttention : attentionAlone;
  return {
    embed: (operation) => embedding(context, operation),
    norm: async (operation) => [await normalisation(context, operation)],
    rotary: rotations(context, { lanes: ROTARY_LANES }),
    attention: async (operation) => [await attention(context, operation)],
    shortConv: async (operation) => [await convolution(context, operation)],
    deltaNet: async (operation) => [await deltaNet(context, operation, PLAIN_LANES)],
    outputGate: async (operation) => [await gateOutput(context, operation)],

    ...productOperations(context, Epilogue.biasOnly, ({ input, ...product }) => {
      const { w, bias } = product.weights;
      const x = activations.buffer(input);
      const bound = { x, w, bias, y: product.y, step: step.step };
      const bindGroup = compiler.bind(matmulLane, bound);
      const bindFirst = (shapeOfProduct: MatmulShape) => {
        const packed = arena.uniform(`product ${product.label}`, packProduct(shapeOfProduct));
        return compiler.bind(matmulAny, { ...bound, product: packed });
      };
      return compileProduct(context, { ...product, x, first, bindGroup, bindFirst, extras: {} });
    }),
  };
}
