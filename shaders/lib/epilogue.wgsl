// What follows a matrix product, in registers: the bias; then an activation, or the sum or product with what y holds.

const BIAS_ONLY = 0u;
const GELU_TANH = 1u;
const GELU_ERF = 2u;
const ADD_TO_OUTPUT = 3u;
const HEAD = 4u; // bias only; lib/head.wgsl then sums the logits up
const SILU = 5u;
const MULTIPLY_OUTPUT = 6u; // the second product of a gate

override EPILOGUE: u32;

// Zero, but no compiler can know: a chain of fma that begins with a zero it knows begins with a product, which some then
// fuse with the next one the other way round, in one kernel and not in another.
fn nothing_yet() -> vec4<f32> {
  return vec4(f32(step.num_rows >> 31u));
}

// `sum`: columns 4 n4 .. 4 n4 + 3 of one row; `index`: where they go in y.
fn store(sum: vec4<f32>, n4: u32, index: u32) {
  let z = sum + bias[n4];
  switch EPILOGUE {
    case GELU_TANH: { y[index] = gelu_tanh(z); }
    case GELU_ERF: { y[index] = gelu_erf(z); }
    case SILU: { y[index] = silu(z); }
    case MULTIPLY_OUTPUT: { y[index] = y[index] * z; }
    case ADD_TO_OUTPUT: { y[index] = y[index] + z; }
    default: { y[index] = z; }
  }
}
