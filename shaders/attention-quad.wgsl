enable subgroups;

// y[row, head, :] = sum over positions p <= position of softmax_p(SCALE q . keys[p]) values[p]      (causal, paged)
// over the last WINDOW of them
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
// The order of additions depends only on the row's position. cache-write has already put the keys and values of this step's
// rows into the cache. attention.wgsl takes those from qkv and rounds each one for every row that reads it. Software adapters
// would do that for cached positions, too, since they run both sides of a condition.

override LANES: u32;
override Y_STRIDE: u32;
override SCALE: f32;

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read> key_cache: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> value_cache: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

const LOWEST = -3.4028234e38;

// A lane's share of a head's values: j = 0 .. 3.
struct Share {
  v0: vec4<f32>,
  v1: vec4<f32>,
  v2: vec4<f32>,
  v3: vec4<f32>,
}

// For heads that do not fill their lanes: the first condition is known when the pipeline is made.
fn is_beyond(j: u32, corner: u32) -> bool {
  return 4u * j + 3u >= HEAD_VEC4 && 4u * j + corner >= HEAD_VEC4;
}

fn query4(row: u32, head: u32, j: u32, corner: u32) -> vec4<f32> {
  if (is_beyond(j, corner)) {
    return vec4(0.0);
  }
  return projected4(row, QUERY, head, 4u * j + corner);
}

fn query_of(row: u32, head: u32, corner: u32) -> Share {
  return Share(
    query4(row, head, 0u, corner),
    query4(row, head, 1u, corner),
    query4(row, head, 2u, corner),
    query4(row, head, 3u, corner),
  );
}

fn cached_key4(index: u32, j: u32, corner: u32) -> vec4<f32> {
  if (is_beyond(j, corner)) {
    return vec4(0.0);
  }
  return key4(index + 4u * j + corner);
}

fn cached_value4(index: u32, j: u32, corner: u32) -> vec4<f32> {
  if (is_beyond(j, corner)) {
    return vec4(0.0);
  }
  return value4(index + 4u * j + corner);
}

fn cached_key(index: u32, corner: u32) -> Share {
  return Share(
    cached_key4(index, 0u, corner),
    cached_key4(index, 1u, corner),
    cached_key4(index, 2u, corner),
    cached_key4(index, 3u, corner),
  );
}

fn cached_value(index: u32, corner: u32) -> Share {
  return Share(
    cached_value4(index, 0u, corner),
    cached_value4(index, 1u, corner),
    cached_value4(index, 2u, corner),
    cached_value4(index, 3u, corner),
  );
}

// What a lane's part of the values adds to a score.
fn dot_of(query: Share, key: Share) -> f32 {
  var products = fma(query.v0, key.v0, vec4(0.0));
  products = fma(query.v1, key.v1, products);
  products = fma(query.v2, key.v2, products);
  products = fma(query.v3, key.v3, products);
  return (products.x + products.y) + (products.z + products.w);
}

// A lane's softmax over the positions so far.
struct State {
  highest: f32,
  total: f32, // of the weights of this lane's positions
  output: Share,
}

// Of lane q the score of position q, from each lane's part of all four.
fn score_of(dots: vec4<f32>, corner: u32) -> f32 {
  let is_right = (corner & 1u) == 1u;
  let is_low = (corner & 2u) == 2u;
  let pair = select(dots.xz, dots.yw, is_right) + quadSwapX(select(dots.yw, dots.xz, is_right));
  return (select(pair.x, pair.y, is_low) + quadSwapY(select(pair.y, pair.x, is_low))) * SCALE;
}

// The weights of the tile's positions; what was before is brought to their maximum.
fn weights_of(state: ptr<function, State>, dots: vec4<f32>, corner: u32, is_there: bool) -> vec4<f32> {
  let score = select(LOWEST, score_of(dots, corner), is_there);
  let pair_highest = max(score, quadSwapX(score));
  let highest = max((*state).highest, max(pair_highest, quadSwapY(pair_highest)));
  let rescale = exp((*state).highest - highest);
  let weight = select(0.0, exp(score - highest), is_there);
  (*state).highest = highest;
  (*state).total = fma((*state).total, rescale, weight);
  (*state).output.v0 *= rescale;
  (*state).output.v1 *= rescale;
  (*state).output.v2 *= rescale;
  (*state).output.v3 *= rescale;
  return vec4(quadBroadcast(weight, 0u), quadBroadcast(weight, 1u), quadBroadcast(weight, 2u), quadBroadcast(weight, 3u));
}

fn add_value(state: ptr<function, State>, weight: f32, value: Share) {
  (*state).output.v0 = fma(vec4(weight), value.v0, (*state).output.v0);
  (*state).output.v1 = fma(vec4(weight), value.v1, (*state).output.v1);
  (*state).output.v2 = fma(vec4(weight), value.v2, (*state).output.v2);
  (*state).output.v3 = fma(vec4(weight), value.v3, (*state).output.v3);
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
  let corner = lane & 3u;
  // All lanes go to the end, since quads that have no head may share a subgroup with some that have.
  let own_head = workgroup.x * (LANES / 4u) + lane / 4u;
  let head = min(own_head, HEADS - 1u);
  let kv_head = kv_head_of(head);
  let query = query_of(workgroup.y, head, corner);

  var state = State(LOWEST, 0.0, Share());
  let seen_from = first_seen(row.position);
  for (var tile = seen_from - seen_from % 4u; tile < length; tile += 4u) {
    // A block has all four. What lies before the window or beyond the row's length has no weight. Beyond it no value is
    // read, since none may have been written there.
    let index = cache_index(row.slot, tile, kv_head);
    var dots = vec4(0.0);
    for (var i = 0u; i < 4u; i++) {
      dots = vec4(dots.yzw, dot_of(query, cached_key(index + i * HEAD_VEC4, corner)));
    }
    var weights = weights_of(&state, dots, corner, tile + corner >= seen_from && tile + corner < length);
    for (var i = 0u; i < min(4u, length - tile); i++) {
      add_value(&state, weights.x, cached_value(index + i * HEAD_VEC4, corner));
      weights = weights.yzwx;
    }
  }

  let pair_total = state.total + quadSwapX(state.total);
  let total = pair_total + quadSwapY(pair_total);
  if (own_head < HEADS) {
    let start = workgroup.y * Y_STRIDE + head * HEAD_SIZE;
    store_share(start, state.output.v0 / total, 0u, corner);
    store_share(start, state.output.v1 / total, 1u, corner);
    store_share(start, state.output.v2 / total, 2u, corner);
    store_share(start, state.output.v3 / total, 3u, corner);
  }
}
