// y[row, head, :] = sum over positions p <= position of softmax_p(SCALE q . keys[p]) values[p]      (causal, paged)
//
// One workgroup a (head, row); online softmax over tiles of LANES positions, in ascending order, straight from the
// blocks. A tile has three parts:
//   1. lane i scores position i of the tile;
//   2. every lane knows the tile's maximum and rescales what it has; lane i turns its score into a weight;
//   3. lane (g, v) of GROUPS x HEAD_VEC4 adds, for positions g, g + GROUPS, .. of the tile, weight times values[v].
// At the end the GROUPS partial sums are added in ascending order. All of it depends on the row's position alone.

override LANES: u32;
override GROUPS: u32; // LANES / HEAD_VEC4, at least 1
override HEAD_SIZE: u32;
override QKV_STRIDE: u32;
override Y_STRIDE: u32;
override SCALE: f32;

@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read> key_cache: array<u32>;
@group(0) @binding(4) var<storage, read> value_cache: array<u32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

const LOWEST = -3.4028234e38;

var<workgroup> query: array<vec4<f32>, HEAD_VEC4>;
var<workgroup> scores: array<f32, LANES>;
var<workgroup> weights: array<f32, LANES>;
var<workgroup> indices: array<u32, LANES>; // of each position of the tile, in the caches
var<workgroup> outputs: array<vec4<f32>, LANES>;

fn key4(index: u32) -> vec4<f32> {
  if (CACHE_F16) {
    return vec4(unpack2x16float(key_cache[2u * index]), unpack2x16float(key_cache[2u * index + 1u]));
  }
  let i = 4u * index;
  return bitcast<vec4<f32>>(vec4(key_cache[i], key_cache[i + 1u], key_cache[i + 2u], key_cache[i + 3u]));
}

fn value4(index: u32) -> vec4<f32> {
  if (CACHE_F16) {
    return vec4(unpack2x16float(value_cache[2u * index]), unpack2x16float(value_cache[2u * index + 1u]));
  }
  let i = 4u * index;
  return bitcast<vec4<f32>>(vec4(value_cache[i], value_cache[i + 1u], value_cache[i + 2u], value_cache[i + 3u]));
}

@compute @workgroup_size(LANES)
fn attention(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let head = workgroup.x;
  let row = rows[workgroup.y];
  let length = row.position + 1u;

  for (var v = lane; v < HEAD_VEC4; v += LANES) {
    var q = vec4(0.0);
    for (var i = 0u; i < 4u && 4u * v + i < HEAD_SIZE; i++) {
      q[i] = qkv[workgroup.y * QKV_STRIDE + head * HEAD_SIZE + 4u * v + i] * SCALE;
    }
    query[v] = q;
  }
  workgroupBarrier();

  let group = lane / HEAD_VEC4;
  let vec = lane % HEAD_VEC4;
  var highest = LOWEST;
  var total = 0.0;
  var output = vec4(0.0);
  for (var start = 0u; start < length; start += LANES) {
    let count = min(LANES, length - start);
    var score = LOWEST;
    if (lane < count) {
      let index = cache_index(row.slot, start + lane, head);
      var dots = vec4(0.0);
      for (var v = 0u; v < HEAD_VEC4; v++) {
        dots = fma(query[v], key4(index + v), dots);
      }
      score = (dots.x + dots.y) + (dots.z + dots.w);
      indices[lane] = index;
      scores[lane] = score;
    }
    workgroupBarrier();

    var tile_highest = highest;
    for (var i = 0u; i < count; i++) {
      tile_highest = max(tile_highest, scores[i]);
    }
    let rescale = exp(highest - tile_highest);
    highest = tile_highest;
    if (lane < count) {
      weights[lane] = exp(score - highest);
    }
    workgroupBarrier();

    total *= rescale;
    for (var i = 0u; i < count; i++) {
      total += weights[i];
    }
    if (group < GROUPS) {
      output *= rescale;
      for (var i = group; i < count; i += GROUPS) {
        output = fma(vec4(weights[i]), value4(indices[i] + vec), output);
      }
    }
    workgroupBarrier();
  }

  outputs[lane] = output;
  workgroupBarrier();
  if (lane < HEAD_VEC4) {
    var sum = outputs[lane];
    for (var g = 1u; g < GROUPS; g++) {
      sum += outputs[g * HEAD_VEC4 + lane];
    }
    sum /= total;
    for (var i = 0u; i < 4u && 4u * lane + i < HEAD_SIZE; i++) {
      y[workgroup.y * Y_STRIDE + head * HEAD_SIZE + 4u * lane + i] = sum[i];
    }
  }
}
