/** Bits that are small normal numbers in every format: some processors take a hundred cycles for a half that is not normal. */
export function fillWithSmallFloats(buffer: ArrayBufferLike): void {
  const floats = new Float32Array(buffer);
  const words = new Uint32Array(buffer);
  let state = 1;
  // The words before are the barrier's and others that must be zero; random ones there would be harmless on one thread.
  for (let i = 0; i < floats.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    floats[i] = state / 2 ** 35;
    words[i] = ((words[i] ?? 0) & ~0x4000) | 0x2000;
  }
}
