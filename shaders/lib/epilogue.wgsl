// What follows a matrix product, in registers: bias, then GELU, or the sum with what y holds already (the residual).

const BIAS_ONLY = 0u;
const GELU_TANH = 1u;
const GELU_ERF = 2u;
const ADD_TO_OUTPUT = 3u;
const HEAD = 4u; // bias only, and then what lib/head.wgsl says of it

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
    case ADD_TO_OUTPUT: { y[index] = y[index] + z; }
    default: { y[index] = z; }
  }
}

// 0.5 x (1 + tanh u) = x / (1 + exp(-2u)) with u = sqrt(2 / pi) (x + 0.044715 x^3): no tanh, whose precision WGSL leaves
// open, and nothing to overflow once the exponent is capped.
fn gelu_tanh(x: vec4<f32>) -> vec4<f32> {
  let u = 0.7978845608028654 * (x + 0.044715 * x * x * x);
  return x / (1.0 + exp(min(-2.0 * u, vec4(88.0))));
}

// 0.5 x (1 + erf(x / sqrt 2)). erf by Abramowitz and Stegun 7.1.26, absolute error below 1.5e-7.
fn gelu_erf(x: vec4<f32>) -> vec4<f32> {
  let a = abs(x) * 0.7071067811865476;
  let t = 1.0 / (1.0 + 0.3275911 * a);
  let poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  let erf = 1.0 - poly * exp(-min(a * a, vec4(88.0)));
  return 0.5 * x * (1.0 + sign(x) * erf);
}
