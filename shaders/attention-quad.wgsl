enable subgroups;

// y[row, head, :] = sum over positions p <= position of softmax_p(capped(SCALE q . keys[p])) values[p]      (causal, paged)
// over the last WINDOW of them
//
// For software adapters with subgroups of four lanes or more, where workgroup memory and barriers are expensive and lanes take
// turns; heads of up to 64 values. A quad of lanes takes up to four queries, and reads each key and each
// value once for them: QUERIES query heads of one head of keys and values (the last quad of a group maybe fewer) of a row,
// or one query head of ROWS rows of a sequence. A workgroup has LANES / 4 quads of one span of rows. Lane q of a quad has
// the values of 4 (4 j + q) .. 4 (4 j + q) + 3 for j = 0 .. 3, of each query, key and value. Four positions at a time, for
// each query:
//
//   dots       each lane has the part of four scores that its values make:   p0 p1 p2 p3   in lanes 0 .. 3
//   scores     exchanged and added, lane q has the score of position q       s0 | s1 | s2 | s3
//   weights    exp(score - highest), one exp for all four
//   outputs    each lane adds weight i, of lane i, times its values of position i
//
// The order of additions depends only on the row's position. The rows of a span lie between two multiples of four, so that
// they all end within the same four positions. The queries are variables, since software adapters would keep an array in
// memory. cache-write has already put the keys and values of this step's rows into the cache.
// attention.wgsl takes those from qkv and rounds each one for every row that reads it. Software adapters would do that for
// cached positions, too, since they run both sides of a condition.

override LANES: u32;
override ROWS: u32; // most rows of a span: 1, or 4 with QUERIES = 1
override QUERIES: u32; // 1 to 4
override Y_STRIDE: u32;
override SCALE: f32;

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read> key_cache: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> value_cache: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> spans: array<Span>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
@group(0) @binding(7) var<uniform> step: Step;

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

// In loops, which compile faster than unrolled code; this runs once.
fn query_of(row: u32, head: u32, corner: u32) -> Share {
  var query = Share();
  for (var j = 0u; j < 4u; j++) {
    query = Share(query.v1, query.v2, query.v3, query4(row, head, j, corner));
  }
  return query;
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

// Returns a lane's part of a score.
fn dot_of(query: Share, key: Share) -> f32 {
  var products = fma(query.v0, key.v0, vec4(0.0));
  products = fma(query.v1, key.v1, products);
  products = fma(query.v2, key.v2, products);
  products = fma(query.v3, key.v3, products);
  return (products.x + products.y) + (products.z + products.w);
}

// A lane's share of a query, and its softmax over the positions so far.
struct Head {
  position: u32,
  query: Share,
  highest: f32,
  total: f32, // of the weights of this lane's positions
  output: Share,
  tile: vec4<f32>, // of the four positions: this lane's part of the scores, then the weights
}

fn begun(row: u32, head: u32, corner: u32) -> Head {
  return Head(rows[row].position, query_of(row, head, corner), LOWEST, 0.0, Share(), vec4(0.0));
}

fn add_dot(head: ptr<function, Head>, key: Share) {
  (*head).tile = vec4((*head).tile.yzw, dot_of((*head).query, key));
}

// Returns the score of position q in lane q, from each lane's part of all four.
fn score_of(dots: vec4<f32>, corner: u32) -> f32 {
  let is_right = (corner & 1u) == 1u;
  let is_low = (corner & 2u) == 2u;
  let pair = select(dots.xz, dots.yw, is_right) + quadSwapX(select(dots.yw, dots.xz, is_right));
  return capped((select(pair.x, pair.y, is_low) + quadSwapY(select(pair.y, pair.x, is_low))) * SCALE);
}

// Returns whether the row's softmax begins with these four positions or before, and ends with position `last` or after.
fn reaches(head: Head, tile: u32, last: u32) -> bool {
  return tile + 3u >= first_seen(head.position) && last <= head.position;
}

// Turns scores into weights, and rescales the earlier sums to the new maximum. Positions before the row's window or beyond its
// own have no weight.
fn weigh(head: ptr<function, Head>, corner: u32, tile: u32) {
  let position = (*head).position;
  let is_there = tile + corner >= first_seen(position) && tile + corner <= position;
  let score = select(LOWEST, score_of((*head).tile, corner), is_there);
  let pair_highest = max(score, quadSwapX(score));
  let highest = max((*head).highest, max(pair_highest, quadSwapY(pair_highest)));
  var rescale = 1.0;
  if (highest > (*head).highest) {
    rescale = exp((*head).highest - highest);
    (*head).highest = highest;
    (*head).output.v0 *= rescale;
    (*head).output.v1 *= rescale;
    (*head).output.v2 *= rescale;
    (*head).output.v3 *= rescale;
  }
  let weight = select(0.0, exp(score - highest), is_there);
  (*head).total = fma((*head).total, rescale, weight);
  (*head).tile = vec4(
    quadBroadcast(weight, 0u),
    quadBroadcast(weight, 1u),
    quadBroadcast(weight, 2u),
    quadBroadcast(weight, 3u),
  );
}

fn add_value(head: ptr<function, Head>, value: Share) {
  let weight = vec4((*head).tile.x);
  (*head).output.v0 = fma(weight, value.v0, (*head).output.v0);
  (*head).output.v1 = fma(weight, value.v1, (*head).output.v1);
  (*head).output.v2 = fma(weight, value.v2, (*head).output.v2);
  (*head).output.v3 = fma(weight, value.v3, (*head).output.v3);
  (*head).tile = (*head).tile.yzwx;
}

// Returns the value, or zeros if the position is not reached: the value may be infinite.
fn if_reached(value: Share, is_reached: bool) -> Share {
  let nothing = vec4(-0.0);
  return Share(
    select(nothing, value.v0, is_reached),
    select(nothing, value.v1, is_reached),
    select(nothing, value.v2, is_reached),
    select(nothing, value.v3, is_reached),
  );
}

fn store_share(start: u32, values: vec4<f32>, j: u32, corner: u32) {
  let first = 4u * (4u * j + corner);
  for (var i = 0u; i < 4u && first + i < HEAD_SIZE; i++) {
    y[start + first + i] = values[i];
  }
}

fn store_head(head: Head, row: u32, index: u32, corner: u32, is_own: bool) {
  let pair_total = head.total + quadSwapX(head.total);
  let total = pair_total + quadSwapY(pair_total);
  if (is_own) {
    let start = row * Y_STRIDE + index * HEAD_SIZE;
    var share = head.output;
    for (var j = 0u; j < 4u; j++) {
      store_share(start, share.v0 / total, j, corner);
      share = Share(share.v1, share.v2, share.v3, share.v0);
    }
  }
}

// Puts the next query first, and the first one last.
fn turn(
  head0: ptr<function, Head>,
  head1: ptr<function, Head>,
  head2: ptr<function, Head>,
  head3: ptr<function, Head>,
) {
  let first = *head0;
  if (ROWS * QUERIES > 1u) {
    *head0 = *head1;
    *head1 = first;
  }
  if (ROWS * QUERIES > 2u) {
    *head1 = *head2;
    *head2 = first;
  }
  if (ROWS * QUERIES > 3u) {
    *head2 = *head3;
    *head3 = first;
  }
}

@compute @workgroup_size(LANES)
fn attention_quad(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let span = spans[span_index(workgroup.y, step, ROWS > 1u)];
  let row = rows[span.first_row];
  let last_row = span.first_row + span.num_rows - 1u;
  let last_position = row.position + span.num_rows - 1u;
  let corner = lane & 3u;
  let group = HEADS / KV_HEADS;
  let quads = (group + QUERIES - 1u) / QUERIES; // of a group
  // All lanes run to the end, since quads without a head may share a subgroup with quads that have one.
  let own_quad = workgroup.x * (LANES / 4u) + lane / 4u;
  let quad = min(own_quad, KV_HEADS * quads - 1u);
  let kv_head = quad / quads;
  let first = kv_head * group + quad % quads * QUERIES;
  let last = min(first + QUERIES, (kv_head + 1u) * group) - 1u;
  // The stride to the next query: the next row or the next head. Queries beyond the last one repeat it.
  let row_stride = select(0u, 1u, ROWS > 1u);
  let head_stride = 1u - row_stride;
  var head0: Head;
  var head1: Head;
  var head2: Head;
  var head3: Head;
  for (var i = 0u; i < ROWS * QUERIES; i++) {
    head0 = begun(min(span.first_row + i * row_stride, last_row), min(first + i * head_stride, last), corner);
    turn(&head0, &head1, &head2, &head3);
  }

  let seen_from = first_seen(row.position);
  let all_seen_from = first_seen(last_position);
  for (var tile = seen_from - seen_from % 4u; tile < last_position + 1u; tile += 4u) {
    // A block has all four. Beyond the last row's position no value is read, since none may have been written there.
    let index = cache_index(row.slot, tile, kv_head);
    for (var i = 0u; i < 4u; i++) {
      let key = cached_key(index + i * HEAD_VEC4, corner);
      add_dot(&head0, key);
      if (ROWS * QUERIES > 1u) {
        add_dot(&head1, key);
      }
      if (ROWS * QUERIES > 2u) {
        add_dot(&head2, key);
      }
      if (ROWS * QUERIES > 3u) {
        add_dot(&head3, key);
      }
    }
    weigh(&head0, corner, tile);
    if (ROWS * QUERIES > 1u) {
      weigh(&head1, corner, tile);
    }
    if (ROWS * QUERIES > 2u) {
      weigh(&head2, corner, tile);
    }
    if (ROWS * QUERIES > 3u) {
      weigh(&head3, corner, tile);
    }
    let count = min(4u, last_position + 1u - tile);
    // Nearly always all rows see the same: conditions would cost more than the additions.
    if (ROWS == 1u || (tile + 3u >= all_seen_from && tile + 3u <= row.position)) {
      for (var i = 0u; i < count; i++) {
        let value = cached_value(index + i * HEAD_VEC4, corner);
        add_value(&head0, value);
        if (ROWS * QUERIES > 1u) {
          add_value(&head1, value);
        }
        if (ROWS * QUERIES > 2u) {
          add_value(&head2, value);
        }
        if (ROWS * QUERIES > 3u) {
          add_value(&head3, value);
        }
      }
    } else {
      for (var i = 0u; i < count; i++) {
        let value = cached_value(index + i * HEAD_VEC4, corner);
        add_value(&head0, if_reached(value, reaches(head0, tile, tile + i)));
        add_value(&head1, if_reached(value, reaches(head1, tile, tile + i)));
        add_value(&head2, if_reached(value, reaches(head2, tile, tile + i)));
        add_value(&head3, if_reached(value, reaches(head3, tile, tile + i)));
      }
    }
  }

  let is_own = own_quad == quad;
  let num_others = select(last - first, last_row - span.first_row, ROWS > 1u);
  for (var i = 0u; i < ROWS * QUERIES; i++) {
    store_head(head0, span.first_row + i * row_stride, first + i * head_stride, corner, is_own && i <= num_others);
    turn(&head0, &head1, &head2, &head3);
  }
}
