// (a, b) = (a cos - b sin, b cos + a sin)      a, b: values i and i + HEAD_SIZE / 2 of a head (Su et al. 2021, rotated by halves)
//
// In place, for every query and key head of a row: the values of qkv that follow them stay. angles[position, i] is
// (cos, sin) of position * inverse_frequency[i].
//
// With NORMED each head, or with OVER_WIDTH all heads of its kind together, is also divided by the root of its mean square, and
// multiplied by the weights of its kind: before it is rotated, or after. One workgroup a (head, row), or a (kind, row). The
// order of additions follows from the constants alone.

override LANES: u32;
override HEADS: u32; // query heads; heads of keys follow them
override KV_HEADS: u32;
override HEAD_SIZE: u32; // even
override QKV_STRIDE: u32;
override QUERY_ANGLES: u32; // where the queries' angles begin in `angles`; 0: they are the keys'
override NORMED: bool;
override OVER_WIDTH: bool;
override AFTER_ROTATION: bool;
override EPSILON: f32;

const HALF_SIZE = HEAD_SIZE / 2u;
const MOST_HEADS = 1u + u32(OVER_WIDTH) * (HEADS - 1u); // of a workgroup

@group(0) @binding(0) var<storage, read> angles: array<vec2<f32>>; // [positions, HALF_SIZE], once or twice
@group(0) @binding(1) var<storage, read> query_norm: array<f32>; // [HEAD_SIZE], or of all heads
@group(0) @binding(2) var<storage, read> key_norm: array<f32>; // likewise
@group(0) @binding(3) var<storage, read> rows: array<Row>;
@group(0) @binding(4) var<storage, read_write> qkv: array<f32>;

var<workgroup> squares: array<f32, LANES>;

// 1 / sqrt(mean of squares + epsilon) of the values from `start` on. No lane writes to them before all have read them.
fn scale_of(start: u32, size: u32, lane: u32) -> f32 {
  let count = rows[0].position;
  var sum = zero(count);
  for (var i = lane; i < MOST_HEADS * HEAD_SIZE && i < size; i += LANES) {
    let value = qkv[start + i];
    sum = fma(value, value, sum);
  }
  squares[lane] = sum;
  workgroupBarrier();
  var total = zero(count);
  for (var i = 0u; i < LANES; i++) {
    total = fma(squares[i], one(count), total);
  }
  return 1.0 / sqrt(total / f32(size) + EPSILON);
}

fn weight_of(is_query: bool, i: u32) -> f32 {
  if (is_query) {
    return query_norm[i];
  }
  return key_norm[i];
}

@compute @workgroup_size(LANES)
fn rotary(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let is_query = workgroup.x < HEADS / MOST_HEADS;
  let first_head = workgroup.x * MOST_HEADS;
  let num_heads = min(MOST_HEADS, select(KV_HEADS, HEADS, is_query));
  let start = workgroup.y * QKV_STRIDE + first_head * HEAD_SIZE;
  let first_angle = rows[workgroup.y].position * HALF_SIZE + select(0u, QUERY_ANGLES, is_query);
  var scale = 1.0;
  if (NORMED) {
    scale = scale_of(start, num_heads * HEAD_SIZE, lane);
  }
  for (var head = 0u; head < MOST_HEADS && head < num_heads; head++) {
    let at = start + head * HEAD_SIZE;
    let weight = head * HEAD_SIZE;
    for (var i = lane; i < HALF_SIZE; i += LANES) {
      let angle = angles[first_angle + i];
      var factors = vec2(1.0);
      if (NORMED) {
        factors = scale * vec2(weight_of(is_query, weight + i), weight_of(is_query, weight + HALF_SIZE + i));
      }
      var pair = vec2(qkv[at + i], qkv[at + HALF_SIZE + i]);
      if (NORMED && !AFTER_ROTATION) {
        pair *= factors;
      }
      pair = vec2(fma(pair.x, angle.x, -(pair.y * angle.y)), fma(pair.y, angle.x, pair.x * angle.y));
      if (NORMED && AFTER_ROTATION) {
        pair *= factors;
      }
      qkv[at + i] = pair.x;
      qkv[at + HALF_SIZE + i] = pair.y;
    }
  }
}
