// y[r, n] = epilogue(sum over k of x[r, k] w[k, n])      x: [rows, K], w: [K, N] packed, y: [rows, 4 Y4], N = 4 N4
//
// For many rows on GPUs. A workgroup of COLUMN_LANES x ROW_LANES threads computes a tile of y, each thread ROWS rows by
// VECS times four columns. Workgroup memory stages one chunk of 32 values of K of both operands at a time:
//
//   x_tile   [row: ROW_LANES ROWS][k4: 8]         thread (x, y) reads rows ROWS y .. ROWS y + ROWS - 1
//   w_tile   [k: 32][n4: COLUMN_LANES VECS]       and columns x, x + COLUMN_LANES ..
//
// With NORM the product's input is layer_norm(x). COLUMN_LANES / ROWS threads per row compute its sums first, and normalise
// its values when they stage them. Every workgroup does this itself, which saves a dispatch.
//
// The head also summarises its logits for the sampler: see lib/head.wgsl. Constants and buffers are in lib/fused-product.wgsl.

override COLUMN_LANES: u32; // a multiple of ROWS
override ROW_LANES: u32;
override ROWS: u32;
override VECS: u32; // ROWS VECS is at most 16

const NUM_THREADS = COLUMN_LANES * ROW_LANES;
const TILE_ROWS = ROW_LANES * ROWS;
const TILE_N4 = COLUMN_LANES * VECS;
const NORM_LANES = COLUMN_LANES / ROWS;

var<workgroup> x_tile: array<vec4<f32>, 8u * TILE_ROWS>;
var<workgroup> w_tile: array<vec4<f32>, 32u * TILE_N4>;

fn put_aside(thread: u32, part: LogitPart) {
  w_tile[thread] = vec4(part.peak, part.total, part.luck, part.tokens);
}

fn aside(thread: u32) -> LogitPart {
  let part = w_tile[thread];
  return LogitPart(part.x, part.y, part.z, part.w);
}

fn put_values(at: u32, values: vec4<f32>) {
  x_tile[at] = values;
}

fn values_at(at: u32) -> vec4<f32> {
  return x_tile[at];
}

@compute @workgroup_size(COLUMN_LANES, ROW_LANES)
fn matmul_tiled(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let first_row = group.y * TILE_ROWS;
  let first_n4 = group.x * TILE_N4;

  var normed: Normed;
  if (NORM) {
    normed = normed_row(thread, first_row);
  }

  let nothing = vec4(zero(step.num_rows));
  let factor = vec4(one(step.num_rows));
  var total: array<vec4<f32>, ROWS * VECS>; // [row][vec]
  for (var i = 0u; i < ROWS * VECS; i++) {
    total[i] = nothing;
  }
  var sum: array<vec4<f32>, ROWS * VECS>;
  for (var chunk = 0u; chunk < K4; chunk += 8u) {
    if (NORM) {
      for (var j = 0u; j < 8u / NORM_LANES; j++) {
        let i = NORM_LANES * j + normed.lane;
        x_tile[normed.owner * 8u + i] = normalise(x[normed.row * K4 + chunk + i], chunk + i, normed.mean, normed.scale);
      }
    } else {
      for (var j = 0u; j < 8u * TILE_ROWS / NUM_THREADS; j++) {
        let i = NUM_THREADS * j + thread;
        x_tile[i] = x[(first_row + i / 8u) * K4 + chunk + i % 8u];
      }
    }
    for (var j = 0u; j < (8u * TILE_N4 + NUM_THREADS - 1u) / NUM_THREADS; j++) {
      let i = NUM_THREADS * j + thread;
      let k4 = i / TILE_N4;
      let column = i % TILE_N4;
      if (k4 < 8u) {
        let n4 = min(first_n4 + column, N4 - 1u);
        let weights = weights_4x4(chunk, k4, n4, chunk_scales(chunk, n4));
        w_tile[4u * k4 * TILE_N4 + column] = weights.k0;
        w_tile[(4u * k4 + 1u) * TILE_N4 + column] = weights.k1;
        w_tile[(4u * k4 + 2u) * TILE_N4 + column] = weights.k2;
        w_tile[(4u * k4 + 3u) * TILE_N4 + column] = weights.k3;
      }
    }
    workgroupBarrier();

    for (var i = 0u; i < ROWS * VECS; i++) {
      sum[i] = nothing;
    }
    for (var k4 = 0u; k4 < 8u; k4++) {
      for (var v = 0u; v < VECS; v++) {
        let column = 4u * k4 * TILE_N4 + v * COLUMN_LANES + local.x;
        let k0 = w_tile[column];
        let k1 = w_tile[column + TILE_N4];
        let k2 = w_tile[column + 2u * TILE_N4];
        let k3 = w_tile[column + 3u * TILE_N4];
        for (var r = 0u; r < ROWS; r++) {
          let input = x_tile[(ROWS * local.y + r) * 8u + k4];
          var s = sum[r * VECS + v];
          s = fma(k0, vec4(input.x), s);
          s = fma(k1, vec4(input.y), s);
          s = fma(k2, vec4(input.z), s);
          s = fma(k3, vec4(input.w), s);
          sum[r * VECS + v] = s;
        }
      }
    }
    for (var i = 0u; i < ROWS * VECS; i++) {
      total[i] = fma(sum[i], factor, total[i]);
    }
    workgroupBarrier();
  }

  let num_rows = select(step.num_rows, step.num_samples, SAMPLES_ONLY);
  for (var v = 0u; v < VECS; v++) {
    let n4 = first_n4 + v * COLUMN_LANES + local.x;
    for (var r = 0u; r < ROWS; r++) {
      let row = first_row + ROWS * local.y + r;
      let is_mine = n4 < N4 && row < num_rows;
      if (is_mine) {
        store(total[r * VECS + v], n4, row);
      }
      if (EPILOGUE == HEAD) {
        let logits = fma(total[r * VECS + v], factor, bias[min(n4, N4 - 1u)]);
        leave_logit_part(logits, n4, row, thread, is_mine);
      }
    }
  }
}
