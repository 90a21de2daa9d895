// Partial softmax over some of a row's positions.

const LOWEST = -3.4028234e38;

struct SoftmaxPart {
  highest: f32, // score
  total: f32, // of the weights exp(score - highest)
  output: vec4<f32>, // sum of weight times value: four values of the head
}

const NOTHING = SoftmaxPart(LOWEST, 0.0, vec4(0.0));

// Joins two parts. `later` has the positions after those of `part`.
fn joined(part: SoftmaxPart, later: SoftmaxPart) -> SoftmaxPart {
  let highest = max(part.highest, later.highest);
  let rescale = exp(part.highest - highest);
  let rescale_later = exp(later.highest - highest);
  return SoftmaxPart(
    highest,
    fma(part.total, rescale, later.total * rescale_later),
    fma(part.output, vec4(rescale), later.output * rescale_later),
  );
}
