// What a product does after its sum, in registers: adds the bias, then applies an activation, or adds to or multiplies y.

const BIAS_ONLY = 0u;
const GELU_TANH = 1u;
const GELU_ERF = 2u;
const ADD_TO_OUTPUT = 3u;
const HEAD = 4u; // bias only; lib/head.wgsl then summarises the logits
const SILU = 5u;
const MULTIPLY_OUTPUT = 6u; // the second product of a gate

override EPILOGUE: u32;

// Returns a zero that compilers don't know. With a known zero a chain of fma begins with a plain product, which some
// compilers fuse with the next one in the other order, in one kernel but not in another.
fn nothing_yet() -> vec4<f32> {
  return vec4(f32(step.num_rows >> 31u));
}

// `sum`: columns 4 n4 .. 4 n4 + 3 of one row; `index`: their place in y.
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
