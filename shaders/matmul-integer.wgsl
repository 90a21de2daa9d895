// y[r, n] = epilogue(sum over k of x[r, k] w[k, n])      x: rows in integers (quantise-rows.wgsl), w: packed, y: [rows, 4 Y4]
//
// With the integers i of x, q of w, and what a chunk of 32 has of scales, each sum a chain of fma from zero:
//
//   group of w   t = t + (sum of (q - CENTRE) i) scale [+ (sum of i) minimum]      the sums are exact integers
//   chunk        total = total + t (the scale of x), chunks in ascending order
//
// A workgroup is COLUMNS lanes (four columns each) by SPLITS lanes along K, as in matmul-skinny: in each round these compute t
// of SPLITS neighbouring chunks for ROWS rows, and then add them, each for its own share of the rows. One lane along K adds up
// what it has itself.

override COLUMNS: u32;
override SPLITS: u32;
override ROWS: u32;

const SHARE = (ROWS + SPLITS - 1u) / SPLITS;
const SCRATCH = min(SPLITS - 1u, 1u) * SPLITS * ROWS * COLUMNS + 1u;
const SIGN = (BITS / 8u + u32(HAS_TABLE)) * 0x80u; // dots take bytes as signed
const OFFSET = i32(SIGN) - i32(CENTRE);

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;

var<workgroup> scratch: array<vec4<f32>, SCRATCH>;

@compute @workgroup_size(COLUMNS, SPLITS)
fn matmul_integer(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let column = local.x;
  let split = local.y;
  let n4 = group.x * COLUMNS + column;
  let read_n4 = min(n4, N4 - 1u);
  let first_row = group.y * ROWS;
  let nothing = vec4(zero(step.num_rows));
  var total: array<vec4<f32>, SHARE>;
  for (var slot = 0u; slot < SHARE; slot++) {
    total[slot] = nothing;
  }
  for (var round = 0u; round < K4; round += 8u * SPLITS) {
    let chunk = round + 8u * split;
    if (chunk < K4) {
      var dots: array<vec4<i32>, ROWS>;
      var parts: array<vec4<f32>, ROWS>;
      for (var r = 0u; r < ROWS; r++) {
        dots[r] = vec4(0);
        parts[r] = nothing;
      }
      let scales = chunk_scales(chunk, read_n4);
      for (var half = 0u; half < 2u; half++) {
        for (var i = 0u; i < 4u; i++) {
          let q = integers_4x4(chunk, 4u * half + i, read_n4) ^ vec4(SIGN * 0x01010101u);
          for (var r = 0u; r < ROWS; r++) {
            let input = x[at(first_row + r, chunk) + half][i];
            dots[r] += vec4(
              dot_of_bytes(q.x, input),
              dot_of_bytes(q.y, input),
              dot_of_bytes(q.z, input),
              dot_of_bytes(q.w, input),
            );
          }
        }
        if (half == 1u || GROUP == 16u) {
          for (var r = 0u; r < ROWS; r++) {
            let ones = i32(x[at(first_row + r, chunk) + 2u][select(3u, 1u + half, GROUP == 16u)]);
            let sums = vec4<f32>(dots[r] + vec4(OFFSET * ones));
            parts[r] = fma(sums, select(scales.scale, scales.last_scale, vec4(half == 1u)), parts[r]);
            if (HAS_MINIMUM) {
              let minimum = select(scales.minimum, scales.last_minimum, vec4(half == 1u));
              parts[r] = fma(vec4(f32(ones)), minimum, parts[r]);
            }
            dots[r] = vec4(0);
          }
        }
      }
      for (var r = 0u; r < ROWS; r++) {
        if (SPLITS == 1u) {
          let slot = min(r, SHARE - 1u); // SHARE is ROWS here
          total[slot] = fma(parts[r], x_scale(first_row + r, chunk), total[slot]);
        } else {
          scratch[(split * ROWS + r) * COLUMNS + column] = parts[r];
        }
      }
    }
    if (SPLITS > 1u) {
      workgroupBarrier();
      for (var s = 0u; s < SPLITS && s < (K4 - round) / 8u; s++) {
        for (var slot = 0u; slot < SHARE; slot++) {
          let r = min(SPLITS * slot + split, ROWS - 1u);
          let part = scratch[(s * ROWS + r) * COLUMNS + column];
          total[slot] = fma(part, x_scale(first_row + r, round + 8u * s), total[slot]);
        }
      }
      workgroupBarrier();
    }
  }
  let num_rows = select(step.num_rows, step.num_samples, SAMPLES_ONLY);
  for (var slot = 0u; slot < SHARE; slot++) {
    let r = slot * SPLITS + split;
    if (r < ROWS && n4 < N4 && first_row + r < num_rows) {
      store(total[slot], n4, first_row + r);
    }
  }
}

// A chunk's first element of three.
fn at(row: u32, chunk: u32) -> u32 {
  return 3u * (row * K4 + chunk) / 8u;
}

fn x_scale(row: u32, chunk: u32) -> vec4<f32> {
  return vec4(bitcast<f32>(x[at(row, chunk) + 2u].x));
}
