// key_cache, value_cache at (row's slot and position) = the row's keys and values, as qkv has them      (paged)
//
// Runs before attention-quad, and before attention in a step with tiles: these read everything from the cache. Without tiles
// attention.wgsl writes by itself. A lane writes four values.

override LANES: u32;

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read_write> key_cache: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> value_cache: array<vec2<u32>>;

@compute @workgroup_size(LANES)
fn cache_write(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let at = workgroup.x * LANES + lane;
  let head = at / HEAD_VEC4;
  let vec = at % HEAD_VEC4;
  if (head >= KV_HEADS) {
    return;
  }
  let row = rows[workgroup.y];
  write_cache(
    cache_index(row.slot, row.position, head) + vec,
    projected4(workgroup.y, KEY, head, vec),
    projected4(workgroup.y, VALUE, head, vec),
  );
}
