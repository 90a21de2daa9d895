/**
 * Gives the memory of bytes that nobody reads any more back at once, where the browser can. Left to the garbage
 * collector, what a large file was read through gathers: it comes when a hundred megabytes and more are there.
 */
export function releaseBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  // What else is in the buffer may be somebody's.
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== bytes.length) return;
  // Not in Node 20, nor in TypeScript's library of that age.
  (buffer as ArrayBuffer & { transfer?: (bytes: number) => ArrayBuffer }).transfer?.(0);
}
