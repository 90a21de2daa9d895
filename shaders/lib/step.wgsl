// What a step computes. Written once a step by src/backends/gpu/step-buffer.ts; the two must agree (a test compares them).

struct Step {
  num_rows: u32,
  num_samples: u32,
}

// One token to compute. `token` is FEEDBACK where the id was sampled on the GPU and lies in feedback[slot]. `start` is the
// first position of the same sequence in this step; its rows follow one another.
struct Row {
  token: u32,
  position: u32,
  slot: u32,
  start: u32,
}

// One token to draw, from the logits of row `row`, or one of the prompt to score under them.
struct Sample {
  row: u32,
  slot: u32,
  output_index: u32,
  temperature: f32,
  top_k: u32,
  top_p: f32,
  seed_low: u32,
  seed_high: u32,
  min_p: f32,
  typical_p: f32,
  repetition_penalty: f32,
  frequency_penalty: f32,
  presence_penalty: f32,
  no_repeat_ngram_size: u32,
  prompt_length: u32,
  num_top: u32, // most likely tokens to tell beside the one drawn
  flags: u32,
  mask: u32, // row of what its grammar lets come next, where MASKED
  scored_token: u32, // to score, where SCORED: of the fields above, num_top counts besides row and slot
}

const FEEDBACK = 0xffffffffu;

// Of `flags`: draw from processed logits, not from the model's; it is too early for the end tokens of the rules; what is
// processed are log-probabilities, as beam search has it.
const PROCESSED = 1u;
const TOO_EARLY = 2u;
const NORMALISED = 4u;
const MASKED = 8u; // only what its mask has may be drawn
const SCORED = 16u; // nothing is drawn

// A logit that no draw may take: the lowest f32.
const FORBIDDEN = -3.4028234e38;
