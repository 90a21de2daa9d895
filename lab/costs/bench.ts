// What benchmarks share. They print ratios of one run: machines are noisy, and the seconds of two runs don't compare.

export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** Right-aligned columns, each as wide as it needs. */
export function printTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const lines = cells.map((row) => row.map((cell, i) => cell.padStart(widths[i] ?? 0)).join("   "));
  console.log(`\n${title}\n\n${lines.join("\n")}\n`);
}

/** Zeroed, for whatever a kernel binds. */
export function makeBuffer(device: GPUDevice, bytes: number): GPUBuffer {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST;
  return device.createBuffer({ size: Math.max(16, bytes), usage });
}
