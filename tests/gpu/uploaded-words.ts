import type { Tensor } from "../../src/files/tensor.ts";
import { Arena } from "../../src/backends/gpu/arena.ts";
import { KernelCompiler } from "../../src/backends/gpu/kernel.ts";
import { WeightUploader } from "../../src/backends/gpu/weight-uploader.ts";
import type { WeightLayout } from "../../src/models/weight-layouts.ts";
import { readBuffer } from "./buffers.ts";

/** Returns a matrix [outputs, inputs] as the GPU keeps it. */
export async function uploadedWords(
  device: GPUDevice,
  tensor: Tensor,
  layout: WeightLayout,
  options: { stagingBytes?: number } = {},
): Promise<Uint32Array<ArrayBuffer>> {
  const arena = new Arena(device);
  const uploader = new WeightUploader(device, arena, new KernelCompiler(device), options);
  const { w } = uploader.matrix("w", tensor, layout, { transposed: true });
  await uploader.fill();
  const words = await readBuffer(device, w);
  uploader.destroy();
  arena.destroy();
  return new Uint32Array(words);
}
