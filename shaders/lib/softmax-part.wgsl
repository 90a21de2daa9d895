// Partial softmax over some of a row's positions.

const LOWEST = -3.4028234e38;

struct SoftmaxPart {
  highest: f32, // score
  total: f32, // of the weights exp(score - highest)
  output: vec4<f32>, // sum of weight times value: four values of the head
}

fn nothing(count: u32) -> SoftmaxPart { return SoftmaxPart(LOWEST, zero(count), vec4(zero(count))); }

// Joins two parts. `later` has the positions after those of `part`.
fn joined(part: SoftmaxPart, later: SoftmaxPart, count: u32) -> SoftmaxPart {
  let highest = max(part.highest, later.highest);
  let rescale = exp(part.highest - highest);
  let rescale_later = exp(later.highest - highest);
  return SoftmaxPart(
    highest,
    fma(part.total, rescale, fma(later.total, rescale_later, zero(count))),
    fma(part.output, vec4(rescale), fma(later.output, vec4(rescale_later), vec4(zero(count)))),
  );
}
