import type { Activation } from "../models/graph.ts";

/** The work after a product, as kernels of both backends number it: those of shaders/lib/epilogue.wgsl. */
export const Epilogue = {
  biasOnly: 0,
  geluTanh: 1,
  geluErf: 2,
  addToOutput: 3,
  /** Of logits: on the GPU also their summary, on the CPU their cap. */
  head: 4,
  silu: 5,
  relu2: 6,
  // Gates come last: y has half as many columns.
  gegluTanh: 7,
  gegluErf: 8,
  swiglu: 9,
  reglu2: 10,
} as const;
export type EpilogueName = keyof typeof Epilogue;

const OF_ACTIVATIONS: Readonly<Record<Activation, { readonly alone: EpilogueName; readonly gate: EpilogueName }>> = {
  gelu_tanh: { alone: "geluTanh", gate: "gegluTanh" },
  gelu_erf: { alone: "geluErf", gate: "gegluErf" },
  silu: { alone: "silu", gate: "swiglu" },
  relu2: { alone: "relu2", gate: "reglu2" },
};

export function gateEpilogue(activation: Activation): EpilogueName {
  return OF_ACTIVATIONS[activation].gate;
}

export function linearEpilogue({
  activation,
  addsToOutput,
}: {
  activation: Activation | null;
  addsToOutput: boolean;
}): EpilogueName {
  if (addsToOutput) return "addToOutput";
  return activation === null ? "biasOnly" : OF_ACTIVATIONS[activation].alone;
}
