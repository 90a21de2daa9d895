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
// The head also summarises its logits for the sampler: see lib/head.wgsl.

const MAX_ROWS = 16u;

override COLUMNS: u32; // at least 8
override SPLITS: u32;
override ROWS: u32; // at most MAX_ROWS
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

var<workgroup> scratch: array<vec4<f32>, SPLITS * ROWS * COLUMNS>;

// The row whose values this lane stages: x[row], normalised by its mean and scale.
struct Normed {
  owner: u32,
  lane: u32,
  row: u32,
  mean: f32,
  scale: f32,
}

fn put_aside(thread: u32, part: LogitPart) {
  scratch[thread] = vec4(part.peak, part.total, part.luck, part.tokens);
}

fn aside(thread: u32) -> LogitPart {
  let part = scratch[thread];
  return LogitPart(part.x, part.y, part.z, part.w);
}

fn total_of_parts(owner: u32) -> f32 {
  var total = 0.0;
  for (var i = 0u; i < NUM_PARTS; i++) {
    total = add_part(total, scratch[owner * NUM_PARTS + i]);
  }
  return total;
}

@compute @workgroup_size(COLUMNS, SPLITS)
fn matmul_skinny(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let column = local.x;
  let split = local.y;
  let n4 = group.x * COLUMNS + column;
  let read_n4 = min(n4, N4 - 1u);
  let first_row = group.y * ROWS;

  let row_lanes = COLUMNS * SPLITS / ROWS;
  let thread = split * COLUMNS + column;
  var normed = Normed(thread / row_lanes, thread % row_lanes, 0u, 0.0, 0.0);
  if (NORM) {
    if (normed.owner < ROWS) {
      normed.row = first_row + normed.owner;
      if (SAMPLES_ONLY) {
        normed.row = samples[normed.row].row;
      }
      for (var part = normed.lane; part < NUM_PARTS; part += row_lanes) {
        scratch[normed.owner * NUM_PARTS + part] = sum_part(normed.row, part);
      }
    }
    workgroupBarrier();
    normed.mean = mean_of(total_of_parts(min(normed.owner, ROWS - 1u)));
    workgroupBarrier();
    if (normed.owner < ROWS) {
      for (var part = normed.lane; part < NUM_PARTS; part += row_lanes) {
        scratch[normed.owner * NUM_PARTS + part] = square_part(normed.row, part, normed.mean);
      }
    }
    workgroupBarrier();
    normed.scale = scale_of(total_of_parts(min(normed.owner, ROWS - 1u)));
    workgroupBarrier();
  }

  var total: array<vec4<f32>, MAX_ROWS>;
  for (var r = 0u; r < ROWS; r++) {
    total[r] = nothing_yet();
  }
  var sum: array<vec4<f32>, MAX_ROWS>;
  for (var round = 0u; round < K4; round += 8u * SPLITS) {
    let num_chunks = min(SPLITS, (K4 - round) / 8u);
    if (NORM) {
      if (normed.owner < ROWS) {
        for (var i = normed.lane; i < 8u * num_chunks; i += row_lanes) {
          let values = x[normed.row * K4 + round + i];
          scratch[normed.owner * 8u * SPLITS + i] = normalise(values, round + i, normed.mean, normed.scale);
        }
      }
      workgroupBarrier();
    }
    for (var r = 0u; r < ROWS; r++) {
      sum[r] = vec4(0.0);
    }
    if (split < num_chunks) {
      for (var i = 8u * split; i < 8u * split + 8u; i++) {
        let weights = weights_4x4(round + i, read_n4);
        for (var r = 0u; r < ROWS; r++) {
          var input: vec4<f32>;
          if (NORM) {
            input = scratch[r * 8u * SPLITS + i];
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
    for (var s = 0u; s < num_chunks; s++) {
      let scale = chunk_scale(round + 8u * s, read_n4);
      var slot = 0u;
      for (var r = split; r < ROWS; r += SPLITS) {
        total[slot] = fma(scratch[(s * ROWS + r) * COLUMNS + column], scale, total[slot]);
        slot++;
      }
    }
    workgroupBarrier();
  }

  let num_rows = select(step.num_rows, step.num_samples, SAMPLES_ONLY);
  for (var slot = 0u; slot * SPLITS < ROWS; slot++) {
    let r = slot * SPLITS + split;
    let row = first_row + r;
    let is_mine = r < ROWS && n4 < N4 && row < num_rows;
    if (is_mine) {
      store(total[slot], n4, row);
    }
    if (EPILOGUE == HEAD) {
      leave_logit_part(total[slot] + bias[read_n4], n4, row, thread, is_mine);
    }
  }
}
