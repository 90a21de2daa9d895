// (a, b) = (a cos - b sin, b cos + a sin)      a, b: values i and i + HEAD_SIZE / 2 of a head (Su et al. 2021, rotated by halves)
//
// In place, for every query and key head of a row: the values of qkv that follow them stay. angles[position, i] is
// (cos, sin) of position * inverse_frequency[i].
//
// With NORMED each head is first divided by the root of its mean square, and multiplied by the weights of its kind. One
// workgroup a (head, row). The order of additions follows from HEAD_SIZE and LANES alone.

override LANES: u32;
override HEADS: u32; // query heads; heads of keys follow them
override HEAD_SIZE: u32; // even
override QKV_STRIDE: u32;
override NORMED: bool;
override EPSILON: f32;

@group(0) @binding(0) var<storage, read> angles: array<vec2<f32>>; // [positions, HEAD_SIZE / 2]
@group(0) @binding(1) var<storage, read> query_norm: array<f32>; // [HEAD_SIZE]
@group(0) @binding(2) var<storage, read> key_norm: array<f32>; // [HEAD_SIZE]
@group(0) @binding(3) var<storage, read> rows: array<Row>;
@group(0) @binding(4) var<storage, read_write> qkv: array<f32>;

var<workgroup> squares: array<f32, LANES>;

// 1 / sqrt(mean of squares + epsilon) of the head at `start`. No lane writes to the head before all have read it.
fn scale_of_head(start: u32, lane: u32) -> f32 {
  let count = rows[0].position;
  var sum = zero(count);
  for (var i = lane; i < HEAD_SIZE; i += LANES) {
    let value = qkv[start + i];
    sum = fma(value, value, sum);
  }
  squares[lane] = sum;
  workgroupBarrier();
  var total = zero(count);
  for (var i = 0u; i < LANES; i++) {
    total = fma(squares[i], one(count), total);
  }
  return 1.0 / sqrt(total / f32(HEAD_SIZE) + EPSILON);
}

fn weight_of(head: u32, i: u32) -> f32 {
  if (head < HEADS) {
    return query_norm[i];
  }
  return key_norm[i];
}

@compute @workgroup_size(LANES)
fn rotary(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let half_size = HEAD_SIZE / 2u;
  let head = workgroup.x;
  let start = workgroup.y * QKV_STRIDE + head * HEAD_SIZE;
  let first_angle = rows[workgroup.y].position * half_size;
  var scale = 1.0;
  if (NORMED) {
    scale = scale_of_head(start, lane);
  }
  for (var i = lane; i < half_size; i += LANES) {
    let angle = angles[first_angle + i];
    var a = qkv[start + i];
    var b = qkv[start + half_size + i];
    if (NORMED) {
      a *= scale * weight_of(head, i);
      b *= scale * weight_of(head, half_size + i);
    }
    qkv[start + i] = fma(a, angle.x, -(b * angle.y));
    qkv[start + half_size + i] = fma(b, angle.x, a * angle.y);
  }
}
