// WebGPU's flags, with the specification's numbers. Node's WebGPU has no globals for them.

export const BufferUsage = {
  MAP_READ: 0x1,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
  QUERY_RESOLVE: 0x200,
} as const;

export const MAP_READ = 0x1;
export const COMPUTE_STAGE = 0x4;
