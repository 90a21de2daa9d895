// (a, b) = (a cos - b sin, b cos + a sin)      a, b: values i and i + HEAD_SIZE / 2 of a head (Su et al. 2021, rotated by halves)
//
// In place, for every query and key head of a row: the values of qkv that follow them stay. angles[position, i] is
// (cos, sin) of position * inverse_frequency[i]. One lane a pair.

override LANES: u32;
override HEADS: u32; // query heads
override KV_HEADS: u32;
override HEAD_SIZE: u32; // even
override QKV_STRIDE: u32;

@group(0) @binding(0) var<storage, read> angles: array<vec2<f32>>; // [positions, HEAD_SIZE / 2]
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read_write> qkv: array<f32>;

@compute @workgroup_size(LANES)
fn rotary(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let half_size = HEAD_SIZE / 2u;
  let pair = workgroup.x * LANES + lane;
  if (pair >= (HEADS + KV_HEADS) * half_size) {
    return;
  }
  let i = pair % half_size;
  let at = workgroup.y * QKV_STRIDE + (pair / half_size) * HEAD_SIZE + i;
  let angle = angles[rows[workgroup.y].position * half_size + i];
  let a = qkv[at];
  let b = qkv[at + half_size];
  qkv[at] = fma(a, angle.x, -(b * angle.y));
  qkv[at + half_size] = fma(b, angle.x, a * angle.y);
}
