// The summary of 32 neighbouring logits of a sample, so that the sampler need not read all logits: it has one workgroup per
// sample. On GPUs the head makes the summary, on software adapters sum-logits does.

struct LogitPart {
  peak: f32, // the largest logit
  total: f32, // sum of exp(logit - peak)
  luck: f32, // the largest logit / temperature + gumbel, if the sample draws freely
  tokens: f32, // index (of 32) of the peak, plus 32 times the index of the luck
}

const PART_TOKENS = 32u;

// Returns the number of parts of a row of logits.
fn num_logit_parts() -> u32 {
  return (VOCABULARY + PART_TOKENS - 1u) / PART_TOKENS;
}

// Returns whether a sample draws from all tokens by the raw logits. Then the head draws, each lane among its columns.
fn draws_freely(i: u32) -> bool {
  let unfiltered = (samples[i].top_k == 0u || samples[i].top_k >= VOCABULARY) && samples[i].top_p >= 1.0 &&
    samples[i].typical_p >= 1.0 && samples[i].min_p == 0.0;
  return unfiltered && samples[i].temperature > 0.0 && (samples[i].flags & (PROCESSED | SCORED)) == 0u;
}
