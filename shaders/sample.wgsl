// feedback[slot] = token drawn from softmax(filter(l[i, :] / temperature))      l: [samples, STRIDE] f32
// sampled[i] = (token, its log-probability)
//
// l is `processed` for a sample with rules (see process-logits.wgsl), else `logits`. FORBIDDEN tokens are never drawn; if
// all are forbidden, the token is 0.
//
// Log-probabilities describe the raw logits, as in OpenAI and vLLM. With PROCESSED_LOGPROBS they describe the distribution
// of the draw: log_softmax(filter(l[i, :] / temperature)), or log_softmax(l[i, :]) for a greedy sample. Then, if the sample
// requests its most likely tokens, processed[i, :] = all log-probabilities, FORBIDDEN for filtered tokens. Beams keep their
// processed log-probabilities.
//
// sample-plain.wgsl takes the samples that are PLAIN: those without rules and filters, and the scored tokens of prompts.
//
// One workgroup per sample. The likeliest token and the raw softmax come from the summaries of each 32 logits, and so does a
// draw from all tokens, which reads no logits: by Gumbel's trick, the token with the largest logit / temperature +
// gumbel(seed, output index, token) is a draw from the softmax. Rules and filters take passes over all logits;
// lib/filters.wgsl applies the filters. Every request takes the raw softmax from the parts, so a token's log-probability has
// the same bits drawn and scored. All sums are of integers, or of floats in an order fixed by LANES.
//   temperature 0: the largest logit, the lowest id among equals
//   top-k: the k largest, and ties with the k-th
//   top-p: of those, the fewest largest whose probabilities reach p
//   min-p: of those, the ones with a probability of at least min_p times the largest
//   typical-p: of those, the fewest whose surprise is nearest to the entropy and whose probabilities reach typical_p

override LANES: u32;
override VOCABULARY: u32;
override STRIDE: u32;
override MAX_LENGTH: u32; // of history, per slot
override PROCESSED_LOGPROBS: bool;

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read_write> processed: array<f32>;
@group(0) @binding(2) var<storage, read> samples: array<Sample>;
@group(0) @binding(3) var<storage, read> logit_parts: array<LogitPart>; // [samples, num_logit_parts()]
@group(0) @binding(4) var<storage, read_write> feedback: array<u32>;
@group(0) @binding(5) var<storage, read_write> history: array<u32>; // the tokens of each slot's sequence
@group(0) @binding(6) var<storage, read_write> sampled: array<vec2<u32>>; // token, bits of its log-probability
@group(0) @binding(7) var<storage, read_write> bins: array<atomic<u32>>; // of the filters' histograms

@compute @workgroup_size(LANES)
fn sample(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let own = group.x;
  let flags = samples[own].flags;
  if ((flags & PLAIN) != 0u) {
    return;
  }
  var raw = Distribution();
  raw.base = own * STRIDE;
  var d = raw;
  d.is_processed = (flags & PROCESSED) != 0u;
  let temperature = samples[own].temperature;
  d.temperature = temperature;

  var likeliest = NONE;
  var luckiest = NONE;
  var softmax = NO_SOFTMAX; // of the raw logits
  for (var i = lane; i < num_logit_parts(); i += LANES) {
    let part = logit_parts[own * num_logit_parts() + i];
    let first_token = i * PART_TOKENS;
    softmax = with_part(softmax, part);
    likeliest = better(likeliest, part.peak, first_token + u32(part.tokens) % PART_TOKENS);
    luckiest = better(luckiest, part.luck, first_token + u32(part.tokens) / PART_TOKENS);
  }
  if (d.is_processed) {
    likeliest = NONE;
    for (var t = lanes_apart(lane); t.x < VOCABULARY; t += 4u * LANES) {
      likeliest = better4(likeliest, logits4(d, t), t);
    }
  }
  let greedy = best_of_all(likeliest, lane);
  d.highest = greedy.value;
  // If every logit is NaN or forbidden there is no best token. Any valid one will do.
  var token = select(greedy.token, 0u, greedy.token == NONE.token);
  if (temperature > 0.0) {
    if (!draws_freely(own)) {
      d = filtered(own, d, lane);
      let seed = vec2(samples[own].seed_low, samples[own].seed_high);
      let output_index = samples[own].output_index;
      luckiest = NONE;
      for (var t = lane; t < VOCABULARY; t += LANES) {
        let logit = logit_of(d, t);
        if (may_be_drawn(logit, d)) {
          luckiest = better(luckiest, luck_of(logit, temperature, seed, vec2(output_index, t), samples[0].row), t);
        }
      }
    }
    let best = best_of_all(luckiest, lane);
    token = select(best.token, token, best.token == NONE.token);
  }

  var logprob = 0.0;
  if (PROCESSED_LOGPROBS) {
    logprob = write_processed(d, own, token, lane);
  } else {
    logprob = logprob_in(softmax_of_all(softmax, lane), logit_of(raw, token));
  }
  if (lane == 0u) {
    let slot = samples[own].slot;
    feedback[slot] = token;
    history[slot * MAX_LENGTH + samples[own].prompt_length + samples[own].output_index] = token;
    sampled[own] = vec2(token, bitcast<u32>(logprob));
  }
}

// Returns a token's log-probability after filtering. Writes all tokens' to `processed` if the sample requests the likeliest.
fn write_processed(drawn: Distribution, own: u32, token: u32, lane: u32) -> f32 {
  var d = drawn;
  d.temperature = select(d.temperature, 1.0, d.temperature == 0.0);
  var total = zero(samples[0].row);
  for (var t = lane; t < VOCABULARY; t += LANES) {
    let logit = logit_of(d, t);
    if (may_be_drawn(logit, d)) {
      total = fma(weight_of(logit, d), one(samples[0].row), total);
    }
  }
  let log_total = log(sum_of_all(total, lane));
  let logprob = logprob_of(logit_of(d, token), d, log_total);
  if (samples[own].num_top > 0u && (samples[own].flags & NORMALISED) == 0u) {
    storageBarrier(); // every lane has read the token's logit, which another lane overwrites
    for (var t = lane; t < VOCABULARY; t += LANES) {
      processed[d.base + t] = logprob_of(logit_of(d, t), d, log_total);
    }
  }
  return logprob;
}

fn logprob_of(logit: f32, d: Distribution, log_total: f32) -> f32 {
  if (!may_be_drawn(logit, d)) {
    return FORBIDDEN;
  }
  return (logit - d.highest) / d.temperature - log_total;
}
