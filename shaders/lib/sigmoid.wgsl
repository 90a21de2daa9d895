// 1 / (1 + exp(-x)), without an exponent that overflows. `nothing` is zero(): with it what is no number stays none, although
// some adapters' exp makes one of it.
fn sigmoid(x: f32, nothing: f32) -> f32 {
  let small = exp(-abs(x));
  return fma(x, nothing, select(1.0, small, x < 0.0) / (1.0 + small));
}
