// y[row, head, :] = sum over positions p <= position of softmax_p(capped(SCALE q . keys[p])) values[p]      (causal, paged)
// over the last WINDOW of them
//
// A workgroup takes QUERIES query heads of one head of keys and values, of each of a span's ROWS rows: each key and each
// value is read once for all of these queries. What it adds for one of them does not depend on the others.
//
// Reads the blocks directly, in splits of SPLIT positions, each in tiles of LANES. A tile's positions are dealt to GROUPS
// groups of HEAD_VEC4 lanes, in order; each group does an online softmax of its own:
//   1. lane v of the group scores the group's position v;
//   2. every lane knows the group's maximum, and turns its own score into a weight;
//   3. lane v adds weight times values[4 v .. 4 v + 3] over the group's positions, ascending.
// Splits and tiles begin at multiples of their sizes, whatever the row sees of the first and of the last. At a split's end
// the groups are joined in ascending order, and so are the splits. All of it depends on the row's position alone; who
// computes a split does not matter:
//
//   ALONE       one workgroup a (QUERIES heads, span) takes its splits one after the other, and writes y
//   otherwise   one workgroup a (QUERIES heads, row, split); y gets [row, head, split] of (output, highest, total), padded
//               to four, which attention-merge joins
//
// Spans of several rows find all that they read in the cache: cache-write has put it there. A single row writes its own
// keys and values into the cache on the way. The rows of one step can't read there what their neighbours are just writing:
// they take it from qkv, rounded as it will be in the cache, and so with the same bits.
//
//   positions   .. row.start - 1       row.start .. row.position
//   read from   the cache              qkv, the rows up to this one

override LANES: u32; // GROUPS HEAD_VEC4
override GROUPS: u32;
override SPLIT: u32; // a multiple of LANES
override MAX_SPLITS: u32;
override ALONE: bool;
override ROWS: u32; // most rows of a span: 1 unless ALONE
override QUERIES: u32; // at most HEADS / KV_HEADS; see NUM_QUERIES
override Y_STRIDE: u32;
override SCALE: f32;

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read_write> key_cache: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> value_cache: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> spans: array<Span>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;
@group(0) @binding(7) var<uniform> step: Step;

const NUM_QUERIES = ROWS * QUERIES; // at most MAX_QUERIES of kernels/attention.ts
const GROUP_HEADS = HEADS / KV_HEADS;
const PASSES = (GROUP_HEADS + QUERIES - 1u) / QUERIES; // of workgroups over a group's heads
const KEEPS_LOOPS = NUM_QUERIES > 2u; // see lib/step.wgsl
const HEAD_ROUNDS = HEAD_VEC4 + u32(KEEPS_LOOPS) * MAX_ROUNDS; // v % HEAD_VEC4 is v, but Tint then sees it inside

// One after the other for each query: [row][head].
var<workgroup> queries: array<vec4<f32>, NUM_QUERIES * HEAD_VEC4>;
var<workgroup> scores: array<f32, NUM_QUERIES * LANES>;
var<workgroup> weights: array<f32, NUM_QUERIES * LANES>;
var<workgroup> outputs: array<vec4<f32>, NUM_QUERIES * LANES>;
var<workgroup> maxima: array<f32, NUM_QUERIES * GROUPS>;
var<workgroup> totals: array<f32, NUM_QUERIES * GROUPS>;
// Shared by all queries.
var<workgroup> indices: array<u32, LANES>; // of each position of the tile, in the caches

// A workgroup's rows, and the positions that they see.
struct Rows {
  first: u32,
  count: u32,
  position: u32, // of the first
}

// Returns the position of a query's row. Queries beyond the last row repeat it.
fn position_of(own: Rows, q: u32) -> u32 {
  return own.position + min(q / QUERIES, own.count - 1u);
}

@compute @workgroup_size(LANES)
fn attention(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let span = spans[span_index(workgroup.y, step, ROWS > 1u)];
  let row = rows[span.first_row];
  let own = Rows(span.first_row, span.num_rows, row.position);
  let kv_head = workgroup.x / PASSES;
  let of_group = QUERIES * (workgroup.x % PASSES);
  // Of the last workgroup's heads the one before may have stored some.
  let own_head = kv_head * GROUP_HEADS + of_group;
  let first_head = kv_head * GROUP_HEADS + min(of_group, GROUP_HEADS - QUERIES);
  let length = row.position + span.num_rows; // of the last row
  let row_of_start = span.first_row - (row.position - row.start); // where spans are single rows
  let group = lane / HEAD_VEC4;
  let vec = lane % HEAD_VEC4;
  let head_vec4 = unknown(HEAD_VEC4, step.num_rows);
  let seen_from = first_seen(row.position);
  let all_seen_from = first_seen(length - 1u);
  let first = (seen_from / SPLIT + select(workgroup.z, 0u, ALONE)) * SPLIT;
  let end = select(min(length, first + SPLIT), length, ALONE);
  if (first >= length) {
    return;
  }

  if (group == 0u) {
    for (var q = 0u; q < NUM_QUERIES; q++) {
      let query_row = own.first + min(q / QUERIES, own.count - 1u);
      queries[q * HEAD_VEC4 + vec] = projected4(query_row, QUERY, first_head + q % QUERIES, vec) * SCALE;
    }
    if (ROWS == 1u && first <= seen_from && of_group == 0u) {
      write_cache(
        cache_index(row.slot, row.position, kv_head) + vec,
        projected4(own.first, KEY, kv_head, vec),
        projected4(own.first, VALUE, kv_head, vec),
      );
    }
  }
  workgroupBarrier();

  var wholes: array<SoftmaxPart, NUM_QUERIES>;
  for (var q = 0u; q < NUM_QUERIES; q++) {
    wholes[q] = nothing(step.num_rows);
  }
  for (var split = first; split < end; split += SPLIT) {
    let split_end = min(end, split + SPLIT);
    var parts: array<SoftmaxPart, NUM_QUERIES>;
    for (var q = 0u; q < NUM_QUERIES; q++) {
      parts[q] = nothing(step.num_rows);
    }
    for (var tile = max(split, seen_from - seen_from % LANES); tile < split_end; tile += LANES) {
      // Positions before this one are in the cache, of those that some row sees.
      let cached_end = select(clamp(row.start, tile, split_end), split_end, ROWS > 1u);
      let scored = tile + lane;
      var index = 0u;
      if (scored >= seen_from && scored < split_end) {
        var dots: array<vec4<f32>, NUM_QUERIES>;
        for (var q = 0u; q < NUM_QUERIES; q++) {
          dots[q] = vec4(zero(step.num_rows)); // SwiftShader zeros it only in the first round
        }
        // Two loops, since software adapters skip only loops that no lane needs.
        if (ROWS > 1u || scored < cached_end) {
          index = cache_index(row.slot, scored, kv_head);
          for (var v = 0u; v < HEAD_ROUNDS && (!KEEPS_LOOPS || v < head_vec4); v++) {
            let key = key4(index + v);
            for (var q = 0u; q < NUM_QUERIES; q++) {
              dots[q] = fma(queries[q * HEAD_VEC4 + v % HEAD_VEC4], key, dots[q]);
            }
          }
        } else {
          for (var v = 0u; v < head_vec4; v++) {
            let key = as_cached(projected4(row_of_start + scored - row.start, KEY, kv_head, v));
            for (var q = 0u; q < NUM_QUERIES; q++) {
              dots[q] = fma(queries[q * HEAD_VEC4 + v % HEAD_VEC4], key, dots[q]);
            }
          }
        }
        for (var q = 0u; q < NUM_QUERIES; q++) {
          let pairs = fma(dots[q].xz, vec2(one(step.num_rows)), dots[q].yw);
          scores[q * LANES + lane] = capped(fma(pairs.x, one(step.num_rows), pairs.y));
        }
      }
      workgroupBarrier();

      if (scored < split_end) {
        indices[lane] = index;
      }
      let group_start = tile + group * HEAD_VEC4;
      for (var q = 0u; q < NUM_QUERIES; q++) {
        let position = position_of(own, q);
        var highest = parts[q].highest;
        for (var v = 0u; v < HEAD_ROUNDS && (!KEEPS_LOOPS || v < head_vec4); v++) {
          let p = group_start + v;
          if (p >= first_seen(position) && p <= position) {
            highest = max(highest, scores[q * LANES + group * HEAD_VEC4 + v % HEAD_VEC4]);
          }
        }
        if (highest > parts[q].highest) {
          let rescale = exp(parts[q].highest - highest);
          parts[q].highest = highest;
          parts[q].total *= rescale;
          parts[q].output *= rescale;
        }
        if (scored >= first_seen(position) && scored <= position) {
          weights[q * LANES + lane] = exp(scores[q * LANES + lane] - highest);
        }
      }
      workgroupBarrier();

      let all_see = ROWS == 1u || (tile >= all_seen_from && tile + LANES <= row.position + 1u);
      for (var v = 0u; v < HEAD_ROUNDS && (!KEEPS_LOOPS || v < head_vec4) && group_start + v < cached_end; v++) {
        let p = group_start + v;
        if (p < seen_from) {
          continue;
        }
        let value = value4(indices[group * HEAD_VEC4 + v % HEAD_VEC4] + vec);
        if (all_see) {
          for (var q = 0u; q < NUM_QUERIES; q++) {
            let weight = weights[q * LANES + group * HEAD_VEC4 + v % HEAD_VEC4];
            parts[q].total = fma(weight, one(step.num_rows), parts[q].total);
            parts[q].output = fma(vec4(weight), value, parts[q].output);
          }
        } else {
          for (var q = 0u; q < NUM_QUERIES; q++) {
            if (p >= first_seen(position_of(own, q)) && p <= position_of(own, q)) {
              let weight = weights[q * LANES + group * HEAD_VEC4 + v % HEAD_VEC4];
              parts[q].total = fma(weight, one(step.num_rows), parts[q].total);
              parts[q].output = fma(vec4(weight), value, parts[q].output);
            }
          }
        }
      }
      let fresh_from = max(max(cached_end, seen_from), group_start);
      for (var p = fresh_from; p < min(split_end, group_start + HEAD_VEC4) && ROWS == 1u; p++) {
        let value = as_cached(projected4(row_of_start + p - row.start, VALUE, kv_head, vec));
        for (var q = 0u; q < NUM_QUERIES; q++) {
          let weight = weights[q * LANES + p - tile];
          parts[q].total = fma(weight, one(step.num_rows), parts[q].total);
          parts[q].output = fma(vec4(weight), value, parts[q].output);
        }
      }
    }

    for (var q = 0u; q < NUM_QUERIES; q++) {
      outputs[q * LANES + lane] = parts[q].output;
      if (vec == 0u) {
        maxima[q * GROUPS + group] = parts[q].highest;
        totals[q * GROUPS + group] = parts[q].total;
      }
    }
    workgroupBarrier();
    if (group == 0u) {
      for (var q = 0u; q < NUM_QUERIES; q++) {
        if (first_seen(position_of(own, q)) < split + SPLIT && split <= position_of(own, q)) {
          var part = parts[q];
          for (var g = 1u; g < GROUPS; g++) {
            let other = q * GROUPS + g;
            part = joined(part, SoftmaxPart(maxima[other], totals[other], outputs[q * LANES + g * HEAD_VEC4 + vec]), step.num_rows);
          }
          wholes[q] = joined(wholes[q], part, step.num_rows);
        }
      }
    }
  }

  if (group != 0u) {
    return;
  }
  for (var q = 0u; q < NUM_QUERIES && q < QUERIES * own.count; q++) {
    let head = first_head + q % QUERIES;
    if (head >= own_head) {
      store(own.first + q / QUERIES, head, first / SPLIT, vec, wholes[q]);
    }
  }
}

fn store(row: u32, head: u32, split: u32, vec: u32, whole: SoftmaxPart) {
  if (ALONE) {
    let output = whole.output / whole.total;
    for (var i = 0u; i < 4u && 4u * vec + i < HEAD_SIZE; i++) {
      y[row * Y_STRIDE + head * HEAD_SIZE + 4u * vec + i] = output[i];
    }
    return;
  }
  let start = ((row * HEADS + head) * MAX_SPLITS + split) * 4u * (HEAD_VEC4 + 1u);
  for (var i = 0u; i < 4u; i++) {
    y[start + 4u * vec + i] = whole.output[i];
  }
  if (vec == 0u) {
    y[start + 4u * HEAD_VEC4] = whole.highest;
    y[start + 4u * HEAD_VEC4 + 1u] = whole.total;
  }
}
