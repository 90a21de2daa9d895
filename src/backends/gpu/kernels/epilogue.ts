/** The work after a product. The numbers are those of lib/epilogue.wgsl. */
export const Epilogue = {
  biasOnly: 0,
  geluTanh: 1,
  geluErf: 2,
  addToOutput: 3,
  head: 4,
  silu: 5,
  relu2: 6,
  gegluTanh: 7,
  gegluErf: 8,
  swiglu: 9,
  reglu2: 10,
} as const;
