import { sumLogits } from "../../src/backends/gpu/kernels/kernels.ts";
import { PART_TOKENS } from "../../src/backends/gpu/sampler.ts";
import { floatsOf, runKernel } from "./gpu.ts";

type Words = Uint32Array<ArrayBuffer>;

/** The summary of rows of logits that the sampler's kernels read, as software adapters make it. */
export async function partsOf(
  device: GPUDevice,
  logits: Float32Array<ArrayBuffer>,
  { samples, VOCABULARY, STRIDE }: { samples: Words; VOCABULARY: number; STRIDE: number },
): Promise<Float32Array<ArrayBuffer>> {
  const LANES = 16;
  const rows = logits.length / STRIDE;
  const numParts = Math.ceil(VOCABULARY / PART_TOKENS);
  const outputs = await runKernel(
    device,
    sumLogits,
    { LANES, VOCABULARY, STRIDE },
    { logits, samples, logit_parts: new Float32Array(4 * rows * numParts) },
    [Math.ceil(numParts / LANES), rows],
  );
  return new Float32Array(floatsOf(outputs, "logit_parts"));
}
