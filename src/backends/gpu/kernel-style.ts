import type { KernelChoice } from "../backend.ts";
import type { OpenedDevice } from "./device.ts";

/**
 * "fused": for GPUs, where a dispatch costs more than a workgroup that normalises its rows. "plain": for adapters that compute
 * on the CPU, where workgroup memory and barriers are slow and a dispatch is cheap; also if a GPU's own kernels were wrong,
 * since these need less of a driver.
 */
export type KernelStyle = "fused" | "plain";

/** The traits of an adapter that decide which kernels a model gets. */
export interface KernelTraits {
  readonly style: KernelStyle;
  /** Whether four neighbouring lanes may exchange values. */
  readonly hasSubgroups: boolean;
  /** Whether kernels with many sums spill registers into memory, as on Intel's GPUs. [false] */
  readonly hasFewRegisters?: boolean;
  /** Whether WGSL has products of four bytes. [false] */
  readonly hasPackedDots?: boolean;
}

/** Returns the traits of an adapter's kernels; without optional features if "plain" ones are requested. */
export function kernelTraits(
  opened: Pick<OpenedDevice, "isSoftware" | "hasSubgroups" | "hasFewRegisters" | "hasPackedDots">,
  kernels: KernelChoice = "default",
): KernelTraits {
  const { isSoftware, hasFewRegisters = false } = opened;
  if (kernels === "plain") return { style: "plain", hasSubgroups: false, hasFewRegisters, hasPackedDots: false };
  const { hasSubgroups, hasPackedDots = false } = opened;
  return { style: isSoftware ? "plain" : "fused", hasSubgroups, hasFewRegisters, hasPackedDots };
}
