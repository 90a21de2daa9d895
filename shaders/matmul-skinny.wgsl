// y[r, n] = epilogue(sum over k of x[r, k] w[k, n])      x: [rows, K], w: [K, N] packed, y: [rows, 4 Y4], N = 4 N4
//
// For few rows, on GPUs. A workgroup is COLUMNS lanes (four columns each) by SPLITS lanes along K: in each round the
// SPLITS lanes compute the sums of SPLITS neighbouring chunks for ROWS rows, and then add them in ascending order, each
// for its own share of the rows. Each weight is read once for all ROWS rows.
//
//   round 0: chunk 0 | 1 | .. | SPLITS - 1      partials[split][row][column] -> totals, split ascending
//   round 1: chunk SPLITS | ..

const MAX_ROWS = 16u;

override COLUMNS: u32;
override SPLITS: u32;
override ROWS: u32; // at most MAX_ROWS
override K4: u32; // K, padded to a multiple of 32, over 4
override N4: u32;
override Y4: u32; // the stride of y over 4: N4, or more where w is a part of the columns
override SAMPLES_ONLY: bool; // one row a sample, not one a token

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(4) var<uniform> step: Step;

var<workgroup> partials: array<vec4<f32>, SPLITS * ROWS * COLUMNS>;

@compute @workgroup_size(COLUMNS, SPLITS)
fn matmul_skinny(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let column = local.x;
  let split = local.y;
  let n4 = group.x * COLUMNS + column;
  let read_n4 = min(n4, N4 - 1u);
  let first_row = group.y * ROWS;

  var total: array<vec4<f32>, MAX_ROWS>;
  var sum: array<vec4<f32>, MAX_ROWS>;
  for (var round = 0u; round < K4; round += 8u * SPLITS) {
    for (var r = 0u; r < ROWS; r++) {
      sum[r] = vec4(0.0);
    }
    let chunk = round + 8u * split;
    if (chunk < K4) {
      for (var k4 = chunk; k4 < chunk + 8u; k4++) {
        let weights = weights_4x4(k4, read_n4);
        for (var r = 0u; r < ROWS; r++) {
          let input = x[(first_row + r) * K4 + k4];
          var s = sum[r];
          s = fma(weights.k0, vec4(input.x), s);
          s = fma(weights.k1, vec4(input.y), s);
          s = fma(weights.k2, vec4(input.z), s);
          s = fma(weights.k3, vec4(input.w), s);
          sum[r] = s;
        }
      }
    }
    for (var r = 0u; r < ROWS; r++) {
      partials[(split * ROWS + r) * COLUMNS + column] = sum[r];
    }
    workgroupBarrier();
    let num_chunks = min(SPLITS, (K4 - round) / 8u);
    for (var s = 0u; s < num_chunks; s++) {
      let scale = chunk_scale(round + 8u * s, read_n4);
      var slot = 0u;
      for (var r = split; r < ROWS; r += SPLITS) {
        total[slot] = fma(partials[(s * ROWS + r) * COLUMNS + column], scale, total[slot]);
        slot++;
      }
    }
    workgroupBarrier();
  }

  let num_rows = select(step.num_rows, step.num_samples, SAMPLES_ONLY);
  var slot = 0u;
  for (var r = split; r < ROWS; r += SPLITS) {
    if (n4 < N4 && first_row + r < num_rows) {
      store(total[slot], n4, (first_row + r) * Y4 + n4);
    }
    slot++;
  }
}
