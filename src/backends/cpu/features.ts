import { f32x4 } from "./wasm/instructions.ts";
import { ModuleBuilder } from "./wasm/module-builder.ts";
import type { Vector } from "./wasm/value.ts";

export interface CpuFeatures {
  readonly hasSimd: boolean;
  /** Whether products can be added without being rounded first. */
  readonly hasRelaxedSimd: boolean;
}

export function detectFeatures(): CpuFeatures {
  const one = () => f32x4.splat(1);
  return {
    hasSimd: validates(() => f32x4.add(one(), one())),
    hasRelaxedSimd: validates(() => f32x4.relaxedMadd(one(), one(), one())),
  };
}

/** Returns whether this platform accepts a function with this expression. */
function validates(expression: () => Vector): boolean {
  if (typeof WebAssembly === "undefined") return false;
  const module = new ModuleBuilder({ isShared: false, pages: 1 });
  module.function("probe", "address: i32", (f, { address }) => f.storeV128(address, expression()));
  return WebAssembly.validate(module.finish());
}
