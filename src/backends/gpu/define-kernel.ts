/** A WGSL file with the parts that it uses: one entry point, the bindings of one bind group, and override constants. */
export interface Kernel {
  /** File name without ".wgsl"; the entry point is the same with underscores. */
  readonly name: string;
  readonly code: string;
  /** Name and type of each binding of group 0, in the order of their numbers. */
  readonly bindings: readonly (readonly [name: string, type: GPUBufferBindingType])[];
}

const BINDING = /@group\(0\) @binding\((\d+)\) var<(\w+)(?:, (\w+))?> (\w+)/g;

/** Appends the parts after the kernel, so that compiler messages have the line numbers of its file. */
export function defineKernel(name: string, ...texts: readonly string[]): Kernel {
  const code = texts.join("\n");
  const declared = [...code.matchAll(BINDING)].toSorted(([, a], [, b]) => Number(a) - Number(b));
  const bindings = declared.map(([, , space, access, binding = ""]) => {
    const type = space === "uniform" ? "uniform" : access === "read" ? "read-only-storage" : "storage";
    return [binding, type] as const;
  });
  return { name, code, bindings };
}
