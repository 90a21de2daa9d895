/**
 * Frees the memory of these bytes at once, if the browser can. Nobody may read them afterwards. The garbage collector
 * would let the buffers of a large file grow beyond a hundred megabytes before it runs.
 */
export function releaseBytes(bytes: ArrayBufferView): void {
  const { buffer } = bytes;
  if (bytes.byteLength === 0) return; // also what was freed before
  // Others may use the rest of a larger buffer.
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== bytes.byteLength) return;
  // Node 20 and TypeScript's library for it lack transfer().
  (buffer as ArrayBuffer & { transfer?: (bytes: number) => ArrayBuffer }).transfer?.(0);
}
