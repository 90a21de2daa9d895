// y[row, head, :] = sum over positions p <= position of softmax_p(SCALE q . keys[p]) values[p]      (causal, paged)
// over the last WINDOW of them
//
// A workgroup takes QUERIES query heads of one head of keys and values: each key and each value is read once for all of
// them. What it adds for one of them does not depend on the others.
//
// Straight from the blocks, in splits of SPLIT positions, each in tiles of LANES. A tile's positions are dealt to GROUPS
// groups of HEAD_VEC4 lanes, in order; each group does an online softmax of its own:
//   1. lane v of the group scores the group's position v;
//   2. every lane knows the group's maximum, and turns its own score into a weight;
//   3. lane v adds weight times values[4 v .. 4 v + 3] over the group's positions, ascending.
// Splits begin at the first position that the row sees. At a split's end the groups are joined in ascending order, and so
// are the splits. All of it depends on the row's position alone; who computes a split does not matter:
//
//   ALONE       one workgroup a (QUERIES heads, row) takes its splits one after the other, and writes y
//   otherwise   one workgroup a (QUERIES heads, row, split); y gets [row, head, split] of (output, highest, total), padded
//               to four, which attention-merge joins
//
// Each row writes its own keys and values into the cache on the way. The rows of one step can't read there what their
// neighbours are just writing: they take it from qkv, rounded as it will be in the cache, and so with the same bits.
//
//   positions   .. row.start - 1       row.start .. row.position
//   read from   the cache              qkv, the rows up to this one

override LANES: u32; // GROUPS HEAD_VEC4
override GROUPS: u32;
override SPLIT: u32; // a multiple of LANES
override MAX_SPLITS: u32;
override ALONE: bool;
override QUERIES: u32; // at most MOST_QUERIES; divides HEADS / KV_HEADS
override Y_STRIDE: u32;
override SCALE: f32;

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read_write> key_cache: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> value_cache: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

const MOST_QUERIES = 8u; // also in kernels/attention.ts

// One after the other for each query head.
var<workgroup> queries: array<vec4<f32>, QUERIES * HEAD_VEC4>;
var<workgroup> scores: array<f32, QUERIES * LANES>;
var<workgroup> weights: array<f32, QUERIES * LANES>;
var<workgroup> outputs: array<vec4<f32>, QUERIES * LANES>;
var<workgroup> maxima: array<f32, QUERIES * GROUPS>;
var<workgroup> totals: array<f32, QUERIES * GROUPS>;
// For all of them.
var<workgroup> indices: array<u32, LANES>; // of each position of the tile, in the caches

@compute @workgroup_size(LANES)
fn attention(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first_head = workgroup.x * QUERIES;
  let kv_head = kv_head_of(first_head);
  let row = rows[workgroup.y];
  let length = row.position + 1u;
  let first_row = workgroup.y - (row.position - row.start); // of position row.start
  let group = lane / HEAD_VEC4;
  let vec = lane % HEAD_VEC4;
  let seen_from = first_seen(row.position);
  let first = seen_from + select(workgroup.z * SPLIT, 0u, ALONE);
  let end = select(min(length, first + SPLIT), length, ALONE);
  if (first >= length) {
    return;
  }

  if (group == 0u) {
    for (var q = 0u; q < QUERIES; q++) {
      queries[q * HEAD_VEC4 + vec] = projected4(workgroup.y, QUERY, first_head + q, vec) * SCALE;
    }
    if (first == seen_from && first_head % (HEADS / KV_HEADS) == 0u) {
      write_cache(
        cache_index(row.slot, row.position, kv_head) + vec,
        projected4(workgroup.y, KEY, kv_head, vec),
        projected4(workgroup.y, VALUE, kv_head, vec),
      );
    }
  }
  workgroupBarrier();

  var wholes: array<SoftmaxPart, MOST_QUERIES>;
  for (var q = 0u; q < QUERIES; q++) {
    wholes[q] = NOTHING;
  }
  for (var split = first; split < end; split += SPLIT) {
    let split_end = min(end, split + SPLIT);
    var parts: array<SoftmaxPart, MOST_QUERIES>;
    for (var q = 0u; q < QUERIES; q++) {
      parts[q] = NOTHING;
    }
    for (var tile = split; tile < split_end; tile += LANES) {
      let count = min(LANES, split_end - tile);
      let num_cached = clamp(row.start, tile, tile + count) - tile;
      let tile_row = first_row + tile - row.start; // wraps where the tile begins in the cache; its sum with i does not
      var index = 0u;
      if (lane < count) {
        var dots: array<vec4<f32>, MOST_QUERIES>;
        for (var q = 0u; q < QUERIES; q++) {
          dots[q] = vec4(0.0); // SwiftShader zeros it only in the first round
        }
        if (lane < num_cached) {
          index = cache_index(row.slot, tile + lane, kv_head);
          for (var v = 0u; v < HEAD_VEC4; v++) {
            let key = key4(index + v);
            for (var q = 0u; q < QUERIES; q++) {
              dots[q] = fma(queries[q * HEAD_VEC4 + v], key, dots[q]);
            }
          }
        } else {
          for (var v = 0u; v < HEAD_VEC4; v++) {
            let key = as_cached(projected4(tile_row + lane, KEY, kv_head, v));
            for (var q = 0u; q < QUERIES; q++) {
              dots[q] = fma(queries[q * HEAD_VEC4 + v], key, dots[q]);
            }
          }
        }
        for (var q = 0u; q < QUERIES; q++) {
          scores[q * LANES + lane] = (dots[q].x + dots[q].y) + (dots[q].z + dots[q].w);
        }
      }
      workgroupBarrier();

      if (lane < count) {
        indices[lane] = index;
      }
      let group_start = group * HEAD_VEC4;
      let group_end = min(count, group_start + HEAD_VEC4);
      for (var q = 0u; q < QUERIES; q++) {
        var highest = parts[q].highest;
        for (var i = group_start; i < group_end; i++) {
          highest = max(highest, scores[q * LANES + i]);
        }
        let rescale = exp(parts[q].highest - highest);
        parts[q].highest = highest;
        parts[q].total *= rescale;
        parts[q].output *= rescale;
        if (lane < count) {
          weights[q * LANES + lane] = exp(scores[q * LANES + lane] - highest);
        }
      }
      workgroupBarrier();

      var i = group_start;
      for (; i < min(num_cached, group_end); i++) {
        let value = value4(indices[i] + vec);
        for (var q = 0u; q < QUERIES; q++) {
          parts[q].total += weights[q * LANES + i];
          parts[q].output = fma(vec4(weights[q * LANES + i]), value, parts[q].output);
        }
      }
      for (; i < group_end; i++) {
        let value = as_cached(projected4(tile_row + i, VALUE, kv_head, vec));
        for (var q = 0u; q < QUERIES; q++) {
          parts[q].total += weights[q * LANES + i];
          parts[q].output = fma(vec4(weights[q * LANES + i]), value, parts[q].output);
        }
      }
    }

    for (var q = 0u; q < QUERIES; q++) {
      outputs[q * LANES + lane] = parts[q].output;
      if (vec == 0u) {
        maxima[q * GROUPS + group] = parts[q].highest;
        totals[q * GROUPS + group] = parts[q].total;
      }
    }
    workgroupBarrier();
    if (group == 0u) {
      for (var q = 0u; q < QUERIES; q++) {
        var part = parts[q];
        for (var g = 1u; g < GROUPS; g++) {
          let other = q * GROUPS + g;
          part = joined(part, SoftmaxPart(maxima[other], totals[other], outputs[q * LANES + g * HEAD_VEC4 + vec]));
        }
        wholes[q] = joined(wholes[q], part);
      }
    }
  }

  if (group != 0u) {
    return;
  }
  for (var q = 0u; q < QUERIES; q++) {
    store(workgroup.y, first_head + q, workgroup.z, vec, wholes[q]);
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
