/**
 * Describes a WGSL file: one entry point, the bindings of one bind group in order, and its override constants. A test
 * compares every descriptor with its file.
 */
export interface Kernel<Binding extends string = string, Constant extends string = string> {
  /** File name without ".wgsl"; the entry point is the same with underscores. */
  readonly name: string;
  readonly code: string;
  /** Name and type of each binding of group 0, in the order of their numbers. */
  readonly bindings: readonly (readonly [name: Binding, type: GPUBufferBindingType])[];
  readonly constants: readonly Constant[];
}
