// A step's data. src/backends/gpu/step-buffer.ts writes it once per step; a test checks that both agree.

struct Step {
  num_rows: u32,
  num_samples: u32,
  num_tiles: u32, // of the spans
}

// Consecutive rows of one sequence, which attention takes together. The tiles of a step come first, then its single rows.
struct Span {
  first_row: u32,
  num_rows: u32,
}

// Returns the index of the i-th tile, or of the i-th single row.
fn span_index(i: u32, of_step: Step, is_tile: bool) -> u32 {
  return select(of_step.num_tiles + i, i, is_tile);
}

// Returns n, but compilers don't know that. `count` is any number of a buffer below 2^31.
fn unknown(n: u32, count: u32) -> u32 { return n + (count >> 31u); }

// Written out, a loop with a large body takes more registers than there are. It stays a loop if it ends at MAX_ROUNDS, and
// before that at unknown(n).
const MAX_ROUNDS = 1024u;

// Sums keep their order. Compilers may reorder additions, and products whose factor or addend they know, in one kernel but
// not in another. So sums are chains of fma from zero(), and what has no factor is multiplied by one().
fn zero(count: u32) -> f32 { return f32(unknown(0u, count)); }
fn one(count: u32) -> f32 { return f32(unknown(1u, count)); }

// One token to compute. If `token` is FEEDBACK, the id was sampled on the GPU and is in feedback[slot]. `start` is the
// sequence's first position in this step; its rows are consecutive.
struct Row {
  token: u32,
  position: u32,
  slot: u32,
  start: u32,
}

// One token to draw from the logits of row `row`, or a prompt's token to score under them.
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
  num_top: u32, // number of most likely tokens to return
  flags: u32,
  mask: u32, // row of its grammar's mask, if MASKED
  scored_token: u32, // to score, if SCORED; then only row, slot and num_top of the fields above are used
}

const FEEDBACK = 0xffffffffu;

// Bits of `flags`: draw from processed logits instead of raw ones; the rules' end tokens are still forbidden; process
// log-probabilities, as beam search needs.
const PROCESSED = 1u;
const TOO_EARLY = 2u;
const NORMALISED = 4u;
const MASKED = 8u; // only tokens in its mask may be drawn
const SCORED = 16u; // nothing is drawn
const PLAIN = 32u; // by the raw logits, without filters: for sample-plain.wgsl

// The logit of a token that must not be drawn: the lowest f32.
const FORBIDDEN = -3.4028234e38;
