// Reads buffers. Imports nothing of a test runner: a bare page may import it too.

export async function readBuffer(device: GPUDevice, buffer: GPUBuffer): Promise<ArrayBuffer> {
  const staging = device.createBuffer({ size: buffer.size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const copy = staging.getMappedRange().slice(0);
  staging.destroy();
  return copy;
}

/** Whether two outputs are the same to the last bit, as the number of words that are not. */
export function differingWords(a: ArrayBuffer | undefined, b: ArrayBuffer | undefined): number {
  const [x, y] = [new Uint32Array(a ?? new ArrayBuffer(0)), new Uint32Array(b ?? new ArrayBuffer(0))];
  if (x.length === 0 || x.length !== y.length) return Infinity;
  return x.reduce((count, word, i) => count + Number(word !== y[i]), 0);
}

/** Deterministic numbers in [-scale, scale), never the same twice in a row. */
export function randomFloats(length: number, seed: number, scale = 1): Float32Array<ArrayBuffer> {
  const values = new Float32Array(length);
  let state = (seed * 2654435761 + 1) >>> 0;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = (state / 2 ** 31 - 1) * scale;
  }
  return values;
}
