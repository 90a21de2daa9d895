// Activation functions of four values.

// 0.5 x (1 + tanh u) = x / (1 + exp(-2u)) with u = sqrt(2 / pi) (x + 0.044715 x^3). Avoids tanh, whose precision WGSL does
// not specify. The capped exponent can't overflow.
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

// x / (1 + exp(-x)). The exponent is capped so that it can't overflow.
fn silu(x: vec4<f32>) -> vec4<f32> {
  return x / (1.0 + exp(min(-x, vec4(88.0))));
}

fn relu2(x: vec4<f32>) -> vec4<f32> {
  return x * max(x, vec4(0.0));
}
