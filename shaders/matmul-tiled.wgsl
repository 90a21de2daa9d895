// y[r, n] = epilogue(sum over k of x[r, k] w[k, n])      x: [rows, K], w: [K, N] packed, y: [rows, 4 Y4], N = 4 N4
//
// For many rows. A workgroup of 8 x 8 threads computes 32 rows by 32 columns, a thread 4 rows by 4 columns. One chunk of
// 32 values of K of both operands is staged in workgroup memory at a time: 4 KiB each.
//
// With NORM it is rows of layer_norm(x) that are multiplied: two threads a row sum it up first, and normalise its values
// as they stage them. Every workgroup does so for itself, which saves a dispatch.

override K4: u32; // K, padded to a multiple of 32, over 4
override N4: u32;
override Y4: u32; // the stride of y over 4: N4, or more where w is a part of the columns
override SAMPLES_ONLY: bool; // one row a sample, not one a token; with NORM, x has one a token all the same
override NORM: bool;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> norm: array<vec4<f32>>; // gamma, beta
@group(0) @binding(4) var<storage, read> samples: array<Sample>;
@group(0) @binding(5) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(6) var<uniform> step: Step;

var<workgroup> x_tile: array<vec4<f32>, 256>; // [row 32][k4 8]
var<workgroup> w_tile: array<vec4<f32>, 256>; // [k 32][n4 8]

fn total_of_parts(owner: u32) -> f32 {
  var total = 0.0;
  for (var i = 0u; i < NUM_PARTS; i++) {
    total = add_part(total, x_tile[owner * NUM_PARTS + i]);
  }
  return total;
}

@compute @workgroup_size(8, 8)
fn matmul_tiled(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let first_row = group.y * 32u;
  let n4 = group.x * 8u + local.x;
  let read_n4 = min(n4, N4 - 1u);

  let owner = thread / 2u; // with NORM: the row that this thread stages a half of
  var row_of_owner = first_row + owner;
  var mean = 0.0;
  var scale = 0.0;
  if (NORM) {
    if (SAMPLES_ONLY) {
      row_of_owner = samples[row_of_owner].row;
    }
    for (var part = thread % 2u; part < NUM_PARTS; part += 2u) {
      x_tile[owner * NUM_PARTS + part] = sum_part(row_of_owner, part);
    }
    workgroupBarrier();
    mean = mean_of(total_of_parts(owner));
    workgroupBarrier();
    for (var part = thread % 2u; part < NUM_PARTS; part += 2u) {
      x_tile[owner * NUM_PARTS + part] = square_part(row_of_owner, part, mean);
    }
    workgroupBarrier();
    scale = scale_of(total_of_parts(owner));
    workgroupBarrier();
  }

  var total0 = vec4(0.0);
  var total1 = vec4(0.0);
  var total2 = vec4(0.0);
  var total3 = vec4(0.0);
  for (var chunk = 0u; chunk < K4; chunk += 8u) {
    if (NORM) {
      for (var i = thread % 2u; i < 8u; i += 2u) {
        x_tile[owner * 8u + i] = normalise(x[row_of_owner * K4 + chunk + i], chunk + i, mean, scale);
      }
    } else {
      for (var i = thread; i < 256u; i += 64u) {
        x_tile[i] = x[(first_row + i / 8u) * K4 + chunk + i % 8u];
      }
    }
    // Thread (x, y) stages four neighbouring k of column group x.
    let weights = weights_4x4(chunk + local.y, read_n4);
    w_tile[32u * local.y + local.x] = weights.k0;
    w_tile[32u * local.y + 8u + local.x] = weights.k1;
    w_tile[32u * local.y + 16u + local.x] = weights.k2;
    w_tile[32u * local.y + 24u + local.x] = weights.k3;
    workgroupBarrier();

    var sum0 = vec4(0.0);
    var sum1 = vec4(0.0);
    var sum2 = vec4(0.0);
    var sum3 = vec4(0.0);
    for (var k4 = 0u; k4 < 8u; k4++) {
      let x0 = x_tile[(4u * local.y) * 8u + k4];
      let x1 = x_tile[(4u * local.y + 1u) * 8u + k4];
      let x2 = x_tile[(4u * local.y + 2u) * 8u + k4];
      let x3 = x_tile[(4u * local.y + 3u) * 8u + k4];
      for (var i = 0u; i < 4u; i++) {
        let weights_k = w_tile[(4u * k4 + i) * 8u + local.x];
        sum0 = fma(weights_k, vec4(x0[i]), sum0);
        sum1 = fma(weights_k, vec4(x1[i]), sum1);
        sum2 = fma(weights_k, vec4(x2[i]), sum2);
        sum3 = fma(weights_k, vec4(x3[i]), sum3);
      }
    }
    let scale = chunk_scale(chunk, read_n4);
    total0 = fma(sum0, scale, total0);
    total1 = fma(sum1, scale, total1);
    total2 = fma(sum2, scale, total2);
    total3 = fma(sum3, scale, total3);
    workgroupBarrier();
  }

  let num_rows = select(step.num_rows, step.num_samples, SAMPLES_ONLY);
  let row = first_row + 4u * local.y;
  if (n4 >= N4) {
    return;
  }
  if (row < num_rows) {
    store(total0, n4, row * Y4 + n4);
  }
  if (row + 1u < num_rows) {
    store(total1, n4, (row + 1u) * Y4 + n4);
  }
  if (row + 2u < num_rows) {
    store(total2, n4, (row + 2u) * Y4 + n4);
  }
  if (row + 3u < num_rows) {
    store(total3, n4, (row + 3u) * Y4 + n4);
  }
}
