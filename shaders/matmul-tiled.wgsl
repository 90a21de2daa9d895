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
// The head also summarises its logits for the sampler: see lib/head.wgsl.

const MAX_SUMS = 16u;

override COLUMN_LANES: u32; // a multiple of ROWS
override ROW_LANES: u32;
override ROWS: u32;
override VECS: u32; // ROWS VECS is at most MAX_SUMS
override K4: u32; // K, padded to a multiple of 32, over 4
override N4: u32;
override EPILOGUE: u32;
override Y4: u32; // stride of y over 4: more than w's columns where w has only part of them, half as much after a gate
override SAMPLES_ONLY: bool; // one row per sample instead of per token; with NORM, x still has one per token
override NORM: bool;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> norm: array<vec4<f32>>; // gamma, beta
@group(0) @binding(4) var<storage, read> samples: array<Sample>;
@group(0) @binding(5) var<storage, read_write> y: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> logit_parts: array<LogitPart>; // only for the head: [samples, num_logit_parts()]
@group(0) @binding(7) var<uniform> step: Step;

var<workgroup> x_tile: array<vec4<f32>, 8u * ROW_LANES * ROWS>;
var<workgroup> w_tile: array<vec4<f32>, 32u * COLUMN_LANES * VECS>;

fn put_aside(thread: u32, part: LogitPart) {
  w_tile[thread] = vec4(part.peak, part.total, part.luck, part.tokens);
}

fn aside(thread: u32) -> LogitPart {
  let part = w_tile[thread];
  return LogitPart(part.x, part.y, part.z, part.w);
}

fn total_of_parts(owner: u32) -> f32 {
  var total = 0.0;
  for (var i = 0u; i < NUM_PARTS; i++) {
    total = add_part(total, x_tile[owner * NUM_PARTS + i]);
  }
  return total;
}

@compute @workgroup_size(COLUMN_LANES, ROW_LANES)
fn matmul_tiled(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let num_threads = COLUMN_LANES * ROW_LANES;
  let tile_rows = ROW_LANES * ROWS;
  let tile_n4 = COLUMN_LANES * VECS;
  let first_row = group.y * tile_rows;
  let first_n4 = group.x * tile_n4;

  // With NORM: the row that this thread helps to stage.
  let row_threads = COLUMN_LANES / ROWS;
  let owner = thread / row_threads;
  let share = thread % row_threads;
  var row_of_owner = first_row + owner;
  var mean = 0.0;
  var scale = 0.0;
  if (NORM) {
    if (SAMPLES_ONLY) {
      row_of_owner = samples[row_of_owner].row;
    }
    for (var part = share; part < NUM_PARTS; part += row_threads) {
      x_tile[owner * NUM_PARTS + part] = sum_part(row_of_owner, part);
    }
    workgroupBarrier();
    mean = mean_of(total_of_parts(owner));
    workgroupBarrier();
    for (var part = share; part < NUM_PARTS; part += row_threads) {
      x_tile[owner * NUM_PARTS + part] = square_part(row_of_owner, part, mean);
    }
    workgroupBarrier();
    scale = scale_of(total_of_parts(owner));
    workgroupBarrier();
  }

  var total: array<vec4<f32>, MAX_SUMS>; // [row][vec]
  for (var i = 0u; i < ROWS * VECS; i++) {
    total[i] = nothing_yet();
  }
  var sum: array<vec4<f32>, MAX_SUMS>;
  for (var chunk = 0u; chunk < K4; chunk += 8u) {
    if (NORM) {
      for (var i = share; i < 8u; i += row_threads) {
        x_tile[owner * 8u + i] = normalise(x[row_of_owner * K4 + chunk + i], chunk + i, mean, scale);
      }
    } else {
      for (var i = thread; i < 8u * tile_rows; i += num_threads) {
        x_tile[i] = x[(first_row + i / 8u) * K4 + chunk + i % 8u];
      }
    }
    for (var i = thread; i < 8u * tile_n4; i += num_threads) {
      let k4 = i / tile_n4;
      let column = i % tile_n4;
      let weights = weights_4x4(chunk + k4, min(first_n4 + column, N4 - 1u));
      w_tile[4u * k4 * tile_n4 + column] = weights.k0;
      w_tile[(4u * k4 + 1u) * tile_n4 + column] = weights.k1;
      w_tile[(4u * k4 + 2u) * tile_n4 + column] = weights.k2;
      w_tile[(4u * k4 + 3u) * tile_n4 + column] = weights.k3;
    }
    workgroupBarrier();

    for (var i = 0u; i < ROWS * VECS; i++) {
      sum[i] = vec4(0.0);
    }
    for (var k4 = 0u; k4 < 8u; k4++) {
      for (var v = 0u; v < VECS; v++) {
        let column = 4u * k4 * tile_n4 + v * COLUMN_LANES + local.x;
        let k0 = w_tile[column];
        let k1 = w_tile[column + tile_n4];
        let k2 = w_tile[column + 2u * tile_n4];
        let k3 = w_tile[column + 3u * tile_n4];
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
    for (var v = 0u; v < VECS; v++) {
      let scale_of_chunk = chunk_scale(chunk, min(first_n4 + v * COLUMN_LANES + local.x, N4 - 1u));
      for (var r = 0u; r < ROWS; r++) {
        total[r * VECS + v] = fma(sum[r * VECS + v], scale_of_chunk, total[r * VECS + v]);
      }
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
        leave_logit_part(total[r * VECS + v] + bias[min(n4, N4 - 1u)], n4, row, thread, is_mine);
      }
    }
  }
}
