/** Zeroed, for whatever a kernel binds. */
export function makeBuffer(device: GPUDevice, bytes: number): GPUBuffer {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
  return device.createBuffer({ size: Math.max(16, bytes), usage });
}
