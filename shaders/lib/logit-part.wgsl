// What the head's product says of 32 neighbouring logits of a sample, so that the sampler need not read them all. On GPUs,
// where it would read them with one workgroup a sample, while the head has one for every few columns.

struct LogitPart {
  peak: f32, // the largest logit
  total: f32, // of exp(logit - peak)
  luck: f32, // the largest logit / temperature + gumbel, of a sample that draws freely
  tokens: f32, // which of the 32 has the peak, plus 32 times which has the luck
}

const PART_TOKENS = 32u;

// How many parts a row of logits has.
fn num_logit_parts() -> u32 {
  return (VOCABULARY + PART_TOKENS - 1u) / PART_TOKENS;
}

// Whether any token may be drawn, by the model's logits: then the head draws, each lane among its columns.
fn draws_freely(request: Sample) -> bool {
  let unfiltered = (request.top_k == 0u || request.top_k >= VOCABULARY) && request.top_p >= 1.0 &&
    request.typical_p >= 1.0 && request.min_p == 0.0;
  return unfiltered && request.temperature > 0.0 && (request.flags & (PROCESSED | SCORED)) == 0u;
}
