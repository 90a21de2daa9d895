// Soft caps of scores and of logits: near zero they stay, and none grows beyond the cap.

override CAP: f32; // 0: there is none

// CAP tanh(x / CAP), by exp, since WGSL does not specify tanh's precision. The capped exponent can't overflow.
fn capped(x: f32) -> f32 {
  if (CAP == 0.0) {
    return x;
  }
  return CAP - 2.0 * CAP / (1.0 + exp(min(2.0 / max(CAP, 1e-30) * x, 88.0)));
}
