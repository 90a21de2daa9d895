// y[row, head, :] = sum over positions p <= position of softmax_p(SCALE q . keys[p]) values[p]      (causal, paged)
// over the last WINDOW of them
//
// Straight from the blocks, in splits of SPLIT positions, each in tiles of LANES. A tile's positions are dealt to GROUPS
// groups of HEAD_VEC4 lanes, in order; each group does an online softmax of its own:
//   1. lane v of the group scores the group's position v;
//   2. every lane knows the group's maximum, and turns its own score into a weight;
//   3. lane v adds weight times values[4 v .. 4 v + 3] over the group's positions, ascending.
// Splits begin at the first position that the row sees. At a split's end the groups are joined in ascending order, and so are the splits. All of it depends on the row's position
// alone; who computes a split does not matter:
//
//   ALONE       one workgroup a (head, row) takes its splits one after the other, and writes y
//   otherwise   one workgroup a (head, row, split); y gets [row, head, split] of (output, highest, total), padded to four,
//               which attention-merge joins
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
override Y_STRIDE: u32;
override SCALE: f32;

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read_write> key_cache: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> value_cache: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

var<workgroup> query: array<vec4<f32>, HEAD_VEC4>;
var<workgroup> scores: array<f32, LANES>;
var<workgroup> weights: array<f32, LANES>;
var<workgroup> indices: array<u32, LANES>; // of each position of the tile, in the caches
var<workgroup> outputs: array<vec4<f32>, LANES>;
var<workgroup> maxima: array<f32, GROUPS>;
var<workgroup> totals: array<f32, GROUPS>;

@compute @workgroup_size(LANES)
fn attention(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let head = workgroup.x;
  let kv_head = kv_head_of(head);
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
    query[vec] = projected4(workgroup.y, QUERY, head, vec) * SCALE;
    if (first == seen_from && head % (HEADS / KV_HEADS) == 0u) {
      write_cache(
        cache_index(row.slot, row.position, kv_head) + vec,
        projected4(workgroup.y, KEY, kv_head, vec),
        projected4(workgroup.y, VALUE, kv_head, vec),
      );
    }
  }
  workgroupBarrier();

  var whole = NOTHING;
  for (var split = first; split < end; split += SPLIT) {
    let split_end = min(end, split + SPLIT);
    var part = NOTHING;
    for (var tile = split; tile < split_end; tile += LANES) {
      let count = min(LANES, split_end - tile);
      let num_cached = clamp(row.start, tile, tile + count) - tile;
      let tile_row = first_row + tile - row.start; // wraps where the tile begins in the cache; its sum with i does not
      var score = LOWEST;
      var index = 0u;
      if (lane < count) {
        var dots = vec4(0.0);
        if (lane < num_cached) {
          index = cache_index(row.slot, tile + lane, kv_head);
          for (var v = 0u; v < HEAD_VEC4; v++) {
            dots = fma(query[v], key4(index + v), dots);
          }
        } else {
          for (var v = 0u; v < HEAD_VEC4; v++) {
            dots = fma(query[v], as_cached(projected4(tile_row + lane, KEY, kv_head, v)), dots);
          }
        }
        score = (dots.x + dots.y) + (dots.z + dots.w);
        scores[lane] = score;
      }
      workgroupBarrier();

      let group_start = group * HEAD_VEC4;
      let group_end = min(count, group_start + HEAD_VEC4);
      var highest = part.highest;
      for (var i = group_start; i < group_end; i++) {
        highest = max(highest, scores[i]);
      }
      let rescale = exp(part.highest - highest);
      part.highest = highest;
      if (lane < count) {
        weights[lane] = exp(score - highest);
        indices[lane] = index;
      }
      workgroupBarrier();

      part.total *= rescale;
      part.output *= rescale;
      var i = group_start;
      for (; i < min(num_cached, group_end); i++) {
        part.total += weights[i];
        part.output = fma(vec4(weights[i]), value4(indices[i] + vec), part.output);
      }
      for (; i < group_end; i++) {
        part.total += weights[i];
        part.output = fma(vec4(weights[i]), as_cached(projected4(tile_row + i, VALUE, kv_head, vec)), part.output);
      }
    }

    outputs[lane] = part.output;
    if (vec == 0u) {
      maxima[group] = part.highest;
      totals[group] = part.total;
    }
    workgroupBarrier();
    if (group == 0u) {
      for (var g = 1u; g < GROUPS; g++) {
        part = joined(part, SoftmaxPart(maxima[g], totals[g], outputs[g * HEAD_VEC4 + vec]));
      }
      whole = joined(whole, part);
    }
  }

  if (group != 0u) {
    return;
  }
  if (ALONE) {
    let output = whole.output / whole.total;
    for (var i = 0u; i < 4u && 4u * vec + i < HEAD_SIZE; i++) {
      y[workgroup.y * Y_STRIDE + head * HEAD_SIZE + 4u * vec + i] = output[i];
    }
    return;
  }
  let start = ((workgroup.y * HEADS + head) * MAX_SPLITS + workgroup.z) * 4u * (HEAD_VEC4 + 1u);
  for (var i = 0u; i < 4u; i++) {
    y[start + 4u * vec + i] = whole.output[i];
  }
  if (vec == 0u) {
    y[start + 4u * HEAD_VEC4] = whole.highest;
    y[start + 4u * HEAD_VEC4 + 1u] = whole.total;
  }
}
