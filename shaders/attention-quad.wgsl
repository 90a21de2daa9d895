enable subgroups;

// y[row, head, :] = sum over positions p <= position of softmax_p(SCALE q . keys[p]) values[p]      (causal, paged)
//
// For software adapters with subgroups of four lanes or more, where workgroup memory and barriers are dear and a lane more
// costs what a lane costs; heads of up to 64 values. One quad of lanes a (row, head), a workgroup LANES / 4 heads of one
// row. Lane q of the quad has the values of 4 (4 j + q) .. 4 (4 j + q) + 3 for j = 0 .. 3, of the query, of each key and of
// each value. Four positions at a time:
//
//   dots       each lane has the part of four scores that its values make:   p0 p1 p2 p3   in lanes 0 .. 3
//   scores     exchanged and added, lane q has the score of position q       s0 | s1 | s2 | s3
//   weights    exp(score - highest), one exp for all four
//   outputs    each lane adds weight i, of lane i, times its values of position i
//
// All of it depends on the row's position alone. As in attention.wgsl each row writes its keys and values into the cache,
// and takes those of the rows of this step from qkv.

override LANES: u32;
override Y_STRIDE: u32;
override SCALE: f32;

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read_write> key_cache: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> value_cache: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

const LOWEST = -3.4028234e38;

// A lane's share of a head's values: j = 0 .. 3.
struct Share {
  v0: vec4<f32>,
  v1: vec4<f32>,
  v2: vec4<f32>,
  v3: vec4<f32>,
}

// Where a position's keys and values are: at an index of the cache, or in a row of this step.
struct Place {
  is_cached: bool,
  index: u32,
  head: u32,
}

fn share_of_row(row: u32, part: u32, head: u32, corner: u32) -> Share {
  return Share(
    new4(row, part, head, 0u, corner),
    new4(row, part, head, 1u, corner),
    new4(row, part, head, 2u, corner),
    new4(row, part, head, 3u, corner),
  );
}

// For heads that do not fill their lanes: the first condition is known when the pipeline is made.
fn is_beyond(j: u32, corner: u32) -> bool {
  return 4u * j + 3u >= HEAD_VEC4 && 4u * j + corner >= HEAD_VEC4;
}

fn new4(row: u32, part: u32, head: u32, j: u32, corner: u32) -> vec4<f32> {
  if (is_beyond(j, corner)) {
    return vec4(0.0);
  }
  return projected4(row, part, head, 4u * j + corner);
}

fn key_at(place: Place, j: u32, corner: u32) -> vec4<f32> {
  if (is_beyond(j, corner)) {
    return vec4(0.0);
  }
  if (place.is_cached) {
    return key4(place.index + 4u * j + corner);
  }
  return as_cached(projected4(place.index, KEY, place.head, 4u * j + corner));
}

fn value_at(place: Place, j: u32, corner: u32) -> vec4<f32> {
  if (is_beyond(j, corner)) {
    return vec4(0.0);
  }
  if (place.is_cached) {
    return value4(place.index + 4u * j + corner);
  }
  return as_cached(projected4(place.index, VALUE, place.head, 4u * j + corner));
}

fn place_of(row: Row, first_row: u32, position: u32, head: u32) -> Place {
  if (position < row.start) {
    return Place(true, cache_index(row.slot, position, head), head);
  }
  return Place(false, first_row + position - row.start, head);
}

fn write_share(index: u32, key: vec4<f32>, value: vec4<f32>, j: u32, corner: u32) {
  if (!is_beyond(j, corner)) {
    write_cache(index + 4u * j + corner, key, value);
  }
}

fn store_share(start: u32, values: vec4<f32>, j: u32, corner: u32) {
  let first = 4u * (4u * j + corner);
  for (var i = 0u; i < 4u && first + i < HEAD_SIZE; i++) {
    y[start + first + i] = values[i];
  }
}

@compute @workgroup_size(LANES)
fn attention_quad(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let row = rows[workgroup.y];
  let length = row.position + 1u;
  let first_row = workgroup.y - (row.position - row.start); // of position row.start
  let corner = lane & 3u;
  // All lanes go to the end, since quads that have no head may share a subgroup with some that have.
  let own_head = workgroup.x * (LANES / 4u) + lane / 4u;
  let head = min(own_head, HEADS - 1u);
  let is_right = (corner & 1u) == 1u;
  let is_low = (corner & 2u) == 2u;

  let query = share_of_row(workgroup.y, QUERY, head, corner);
  if (own_head < HEADS) {
    let key = share_of_row(workgroup.y, KEY, head, corner);
    let value = share_of_row(workgroup.y, VALUE, head, corner);
    let index = cache_index(row.slot, row.position, head);
    write_share(index, key.v0, value.v0, 0u, corner);
    write_share(index, key.v1, value.v1, 1u, corner);
    write_share(index, key.v2, value.v2, 2u, corner);
    write_share(index, key.v3, value.v3, 3u, corner);
  }

  var highest = LOWEST;
  var total = 0.0; // of the weights of this lane's positions
  var output = Share();
  for (var tile = 0u; tile < length; tile += 4u) {
    var dots = vec4(0.0);
    for (var position = tile; position < tile + 4u; position++) {
      var products = vec4(0.0);
      if (position < length) {
        let place = place_of(row, first_row, position, head);
        products = fma(query.v0, key_at(place, 0u, corner), products);
        products = fma(query.v1, key_at(place, 1u, corner), products);
        products = fma(query.v2, key_at(place, 2u, corner), products);
        products = fma(query.v3, key_at(place, 3u, corner), products);
      }
      dots = vec4(dots.yzw, (products.x + products.y) + (products.z + products.w));
    }
    let pair = select(dots.xz, dots.yw, is_right) + quadSwapX(select(dots.yw, dots.xz, is_right));
    let sum = select(pair.x, pair.y, is_low) + quadSwapY(select(pair.y, pair.x, is_low));
    let is_there = tile + corner < length;
    let score = select(LOWEST, sum * SCALE, is_there);

    let pair_highest = max(score, quadSwapX(score));
    let new_highest = max(highest, max(pair_highest, quadSwapY(pair_highest)));
    let rescale = exp(highest - new_highest);
    let weight = select(0.0, exp(score - new_highest), is_there);
    highest = new_highest;
    total = fma(total, rescale, weight);
    output.v0 *= rescale;
    output.v1 *= rescale;
    output.v2 *= rescale;
    output.v3 *= rescale;
    var weights =
      vec4(quadBroadcast(weight, 0u), quadBroadcast(weight, 1u), quadBroadcast(weight, 2u), quadBroadcast(weight, 3u));
    for (var position = tile; position < min(tile + 4u, length); position++) {
      let place = place_of(row, first_row, position, head);
      output.v0 = fma(vec4(weights.x), value_at(place, 0u, corner), output.v0);
      output.v1 = fma(vec4(weights.x), value_at(place, 1u, corner), output.v1);
      output.v2 = fma(vec4(weights.x), value_at(place, 2u, corner), output.v2);
      output.v3 = fma(vec4(weights.x), value_at(place, 3u, corner), output.v3);
      weights = weights.yzwx;
    }
  }

  let pair_total = total + quadSwapX(total);
  total = pair_total + quadSwapY(pair_total);
  if (own_head < HEADS) {
    let start = workgroup.y * Y_STRIDE + head * HEAD_SIZE;
    store_share(start, output.v0 / total, 0u, corner);
    store_share(start, output.v1 / total, 1u, corner);
    store_share(start, output.v2 / total, 2u, corner);
    store_share(start, output.v3 / total, 3u, corner);
  }
}
