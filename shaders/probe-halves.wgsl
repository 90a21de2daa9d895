// flushes = 1 if this adapter takes a subnormal half for zero, unpacked or multiplied
//
// A lane has four halves: i and 512 + i, of both signs. src/backends/gpu/flushed-halves.ts runs it when a device is opened.

override LANES: u32; // 512 in all

@group(0) @binding(0) var<storage, read_write> flushes: atomic<u32>;

@compute @workgroup_size(LANES)
fn probe_halves(@builtin(global_invocation_id) id: vec3<u32>) {
  let words = vec2(id.x, 512u + id.x) * 0x10001u + vec2(0x80000000u);
  let values = from_halves(words);
  let products = fma(values, vec4(one(id.x)), vec4(zero(id.x)));
  if (any(values != widened(words)) || any(products != widened(words))) {
    atomicStore(&flushes, 1u);
  }
}
