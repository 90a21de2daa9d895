// top[i, :] = the most likely tokens of sample i under its raw logits, in order, with their log-probabilities      [samples, MAX_TOP] vec2
//
// Beams, and with PROCESSED_LOGPROBS all drawn samples, take the highest values of `processed` instead (see sample.wgsl).
// If filters keep fewer tokens, the rest are FORBIDDEN.
// One workgroup per sample; it returns at once if the sample requests none. Each pass finds the next token by value, and by id
// among equal values.

override LANES: u32;
override VOCABULARY: u32;
override STRIDE: u32;
override MAX_TOP: u32;
override PROCESSED_LOGPROBS: bool;

const ROUNDS = (VOCABULARY + LANES - 1u) / LANES; // over the vocabulary

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> processed: array<f32>;
@group(0) @binding(2) var<storage, read> samples: array<Sample>;
@group(0) @binding(3) var<storage, read> logit_parts: array<LogitPart>; // [samples, num_logit_parts()]
@group(0) @binding(4) var<storage, read_write> top: array<vec2<u32>>; // token, bits of its log-probability

@compute @workgroup_size(LANES)
fn top_logprobs(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let request = samples[group.x];
  let base = group.x * STRIDE;
  let is_drawn = (request.flags & SCORED) == 0u;
  let is_normalised = (request.flags & NORMALISED) != 0u || (PROCESSED_LOGPROBS && is_drawn);
  var last_value = 3.4028234e38;
  var last_token = 0u;
  var softmax = Softmax(0.0, 1.0); // leaves normalised values unchanged
  if (!is_normalised && request.num_top > 0u) {
    softmax = NO_SOFTMAX;
    for (var i = lane; i < num_logit_parts(); i += LANES) {
      softmax = with_part(softmax, logit_parts[group.x * num_logit_parts() + i]);
    }
    softmax = softmax_of_all(softmax, lane);
  }
  for (var n = 0u; n < min(request.num_top, MAX_TOP); n++) {
    var value = FORBIDDEN;
    var found = VOCABULARY;
    // A product of `i` for the token took llvmpipe three times as long.
    var token = lane;
    for (var i = 0u; i < ROUNDS && token < VOCABULARY; i++) {
      let logit = value_of(base + token, is_normalised);
      let is_after = n == 0u || logit < last_value || (logit == last_value && token > last_token);
      if (is_after && (logit > value || found == VOCABULARY)) {
        value = logit;
        found = token;
      }
      token += LANES;
    }
    let next = best_of_all(Best(value, found), lane);
    last_value = next.value;
    last_token = next.token;
    if (lane == 0u) {
      top[group.x * MAX_TOP + n] = vec2(last_token, bitcast<u32>(logprob_in(softmax, last_value)));
    }
  }
}

fn value_of(index: u32, is_normalised: bool) -> f32 {
  if (is_normalised) {
    return processed[index];
  }
  return logits[index];
}
