// y[r, n] = epilogue(sum over k of x[r, k] w[k, n])      x: [rows, K], w: [K, N] packed, y: [rows, 4 Y4], N = 4 N4
//
// For few rows on GPUs. A workgroup is COLUMNS lanes (four columns each) by SPLITS lanes along K. In each round the SPLITS
// lanes compute the sums of SPLITS neighbouring chunks for ROWS rows. Then they add the sums in ascending order, each lane
// for its own share of the rows. Each weight is read once for all ROWS rows.
//
//   round 0: chunk 0 | 1 | .. | SPLITS - 1      scratch[split][row][column] -> totals, split ascending
//   round 1: chunk SPLITS | ..
//
// With NORM the product's input is layer_norm(x). Every workgroup normalises the rows itself, which saves a dispatch. Each
// row has its own lanes, which in each round first put the chunks' values into scratch.
//
// The head also summarises its logits for the sampler: see lib/head.wgsl. Constants and buffers are in lib/fused-product.wgsl.

override COLUMNS: u32; // at least 8
override SPLITS: u32;
override ROWS: u32; // at most 16

const TILE_ROWS = ROWS;
const NORM_LANES = COLUMNS * SPLITS / ROWS;
const ROUND_K4 = 8u * SPLITS; // of K over 4 in a round
const SHARE = (ROWS + SPLITS - 1u) / SPLITS; // of the rows whose totals a lane keeps
const KEEPS_LOOP = ROWS >= 8u; // see lib/step.wgsl
const CHUNK_ROUNDS = 8u + u32(KEEPS_LOOP) * MAX_ROUNDS;

var<workgroup> scratch: array<vec4<f32>, SPLITS * ROWS * COLUMNS>;

fn put_aside(thread: u32, part: LogitPart) {
  scratch[thread] = vec4(part.peak, part.total, part.luck, part.tokens);
}

fn aside(thread: u32) -> LogitPart {
  let part = scratch[thread];
  return LogitPart(part.x, part.y, part.z, part.w);
}

fn put_values(at: u32, values: vec4<f32>) {
  scratch[at] = values;
}

fn values_at(at: u32) -> vec4<f32> {
  return scratch[at];
}

@compute @workgroup_size(COLUMNS, SPLITS)
fn matmul_skinny(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let column = local.x;
  let split = local.y;
  let n4 = group.x * COLUMNS + column;
  let read_n4 = min(n4, N4 - 1u);
  let first_row = group.y * ROWS;

  let thread = split * COLUMNS + column;
  var normed: Normed;
  if (NORM) {
    normed = normed_row(thread, first_row);
  }

  let nothing = vec4(zero(step.num_rows));
  let factor = vec4(one(step.num_rows));
  var total: array<vec4<f32>, SHARE>;
  for (var slot = 0u; slot < SHARE; slot++) {
    total[slot] = nothing;
  }
  var sum: array<vec4<f32>, ROWS>;
  for (var round = 0u; round < K4; round += ROUND_K4) {
    let num_chunks = min(SPLITS, (K4 - round) / 8u);
    if (NORM) {
      for (var j = 0u; j < (ROUND_K4 + NORM_LANES - 1u) / NORM_LANES; j++) {
        let i = NORM_LANES * j + normed.lane;
        if (normed.owner < ROWS && i < 8u * num_chunks) {
          let values = x[normed.row * K4 + round + i];
          scratch[normed.owner * ROUND_K4 + i] = normalise(values, round + i, normed.mean, normed.scale);
        }
      }
      workgroupBarrier();
    }
    for (var r = 0u; r < ROWS; r++) {
      sum[r] = nothing;
    }
    if (split < num_chunks) {
      let chunk = round + 8u * split;
      let scales = chunk_scales(chunk, read_n4);
      let chunk_k4 = unknown(8u, step.num_rows);
      for (var j = 0u; j < CHUNK_ROUNDS && (!KEEPS_LOOP || j < chunk_k4); j++) {
        let i = 8u * split + j;
        var weights: Weights4x4;
        if (HAS_PLAIN_NIBBLES && !KEEPS_LOOP) {
          weights = nibbles_4x4(chunk, j, read_n4, scales);
        } else {
          weights = weights_4x4(chunk, j, read_n4, scales);
        }
        for (var r = 0u; r < ROWS; r++) {
          var input: vec4<f32>;
          if (NORM) {
            input = scratch[r * ROUND_K4 + i];
          } else {
            input = x[(first_row + r) * K4 + round + i];
          }
          var s = sum[r];
          s = fma(weights.k0, vec4(input.x), s);
          s = fma(weights.k1, vec4(input.y), s);
          s = fma(weights.k2, vec4(input.z), s);
          s = fma(weights.k3, vec4(input.w), s);
          sum[r] = s;
        }
      }
    }
    if (NORM) {
      workgroupBarrier();
    }
    for (var r = 0u; r < ROWS; r++) {
      scratch[(split * ROWS + r) * COLUMNS + column] = sum[r];
    }
    workgroupBarrier();
    for (var s = 0u; s < SPLITS && s < num_chunks; s++) {
      for (var slot = 0u; slot < SHARE; slot++) {
        let r = min(SPLITS * slot + split, ROWS - 1u);
        total[slot] = fma(scratch[(s * ROWS + r) * COLUMNS + column], factor, total[slot]);
      }
    }
    workgroupBarrier();
  }

  let num_rows = select(step.num_rows, step.num_samples, SAMPLES_ONLY);
  for (var slot = 0u; slot < SHARE; slot++) {
    let r = slot * SPLITS + split;
    let row = first_row + r;
    let is_mine = r < ROWS && n4 < N4 && row < num_rows;
    if (is_mine) {
      store(total[slot], n4, row);
    }
    if (EPILOGUE == HEAD) {
      leave_logit_part(fma(total[slot], factor, bias[read_n4]), n4, row, thread, is_mine);
    }
  }
}
