// y[row, head, :] = sum over positions p <= position of softmax_p(SCALE q . keys[p]) values[p]      (causal, paged)
//
// One workgroup a (head, row), straight from the blocks, in tiles of LANES positions. A tile's positions are dealt to
// GROUPS groups of HEAD_VEC4 lanes, in order; each group does an online softmax of its own:
//   1. lane v of the group scores the group's position v;
//   2. every lane knows the group's maximum, and turns its own score into a weight;
//   3. lane v adds weight times values[4 v .. 4 v + 3] over the group's positions, ascending.
// At the end the groups are brought to one maximum and added in ascending order. All of it depends on the row's position
// alone.
//
// Each row writes its own keys and values into the cache on the way. The rows of one step can't read there what their
// neighbours are just writing: they take it from qkv, rounded as it will be in the cache, and so with the same bits.
//
//   positions   0 .. row.start - 1     row.start .. row.position
//   read from   the cache              qkv, the rows up to this one

override LANES: u32; // GROUPS HEAD_VEC4
override GROUPS: u32;
override Y_STRIDE: u32;
override SCALE: f32;

@group(0) @binding(0) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read_write> key_cache: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> value_cache: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

const LOWEST = -3.4028234e38;

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
  let row = rows[workgroup.y];
  let length = row.position + 1u;
  let first_row = workgroup.y - (row.position - row.start); // of position row.start
  let group = lane / HEAD_VEC4;
  let vec = lane % HEAD_VEC4;

  if (group == 0u) {
    query[vec] = projected4(workgroup.y, QUERY, head, vec) * SCALE;
    write_cache(
      cache_index(row.slot, row.position, head) + vec,
      projected4(workgroup.y, KEY, head, vec),
      projected4(workgroup.y, VALUE, head, vec),
    );
  }
  workgroupBarrier();

  var highest = LOWEST;
  var total = 0.0;
  var output = vec4(0.0);
  for (var tile = 0u; tile < length; tile += LANES) {
    let count = min(LANES, length - tile);
    let num_cached = clamp(row.start, tile, tile + count) - tile;
    let tile_row = first_row + tile - row.start; // wraps where the tile begins in the cache; its sum with i does not
    var score = LOWEST;
    var index = 0u;
    if (lane < count) {
      var dots = vec4(0.0);
      if (lane < num_cached) {
        index = cache_index(row.slot, tile + lane, head);
        for (var v = 0u; v < HEAD_VEC4; v++) {
          dots = fma(query[v], key4(index + v), dots);
        }
      } else {
        for (var v = 0u; v < HEAD_VEC4; v++) {
          dots = fma(query[v], as_cached(projected4(tile_row + lane, KEY, head, v)), dots);
        }
      }
      score = (dots.x + dots.y) + (dots.z + dots.w);
      scores[lane] = score;
    }
    workgroupBarrier();

    let group_start = group * HEAD_VEC4;
    let group_end = min(count, group_start + HEAD_VEC4);
    var group_highest = highest;
    for (var i = group_start; i < group_end; i++) {
      group_highest = max(group_highest, scores[i]);
    }
    let rescale = exp(highest - group_highest);
    highest = group_highest;
    if (lane < count) {
      weights[lane] = exp(score - highest);
      indices[lane] = index;
    }
    workgroupBarrier();

    total *= rescale;
    output *= rescale;
    var i = group_start;
    for (; i < min(num_cached, group_end); i++) {
      total += weights[i];
      output = fma(vec4(weights[i]), value4(indices[i] + vec), output);
    }
    for (; i < group_end; i++) {
      total += weights[i];
      output = fma(vec4(weights[i]), as_cached(projected4(tile_row + i, VALUE, head, vec)), output);
    }
  }

  outputs[lane] = output;
  if (vec == 0u) {
    maxima[group] = highest;
    totals[group] = total;
  }
  workgroupBarrier();
  if (group == 0u) {
    for (var g = 1u; g < GROUPS; g++) {
      highest = max(highest, maxima[g]);
    }
    total = 0.0;
    output = vec4(0.0);
    for (var g = 0u; g < GROUPS; g++) {
      let rescale = exp(maxima[g] - highest);
      total = fma(totals[g], rescale, total);
      output = fma(outputs[g * HEAD_VEC4 + vec], vec4(rescale), output);
    }
    output /= total;
    for (var i = 0u; i < 4u && 4u * vec + i < HEAD_SIZE; i++) {
      y[workgroup.y * Y_STRIDE + head * HEAD_SIZE + 4u * vec + i] = output[i];
    }
  }
}
