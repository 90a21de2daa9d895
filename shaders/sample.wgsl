// feedback[slot] = token drawn from softmax(filter(l[i, :] / temperature))      l: [samples, STRIDE] f32
// sampled[i] = (token, its log-probability)
//
// Of a sample that is SCORED: sampled[i] = (rank of its scored_token by the logits, its log-probability), and nothing is drawn.
//
// l is `processed` for a sample that has rules (see process-logits.wgsl), `logits` for any other. What is FORBIDDEN is
// never drawn; where everything is, the token is 0.
//
// One workgroup a sample. Gumbel's trick draws without a second pass: the token with the largest
// logit / temperature + gumbel(seed, output index, token) is a draw from the softmax. Filters are thresholds on the
// logit, found by a radix select over its bits as they lie in memory: what is compared later is exactly what was counted.
// All sums are of integers, or of floats in an order fixed by LANES.
//   temperature 0: the largest logit, the lowest id among equals
//   top-k: the k largest, and what equals the k-th
//   top-p: of those, the fewest largest whose probabilities reach p
//   min-p: of those, whose probability is at least min_p times the largest
//   typical-p: of those, the fewest whose surprise is nearest to the entropy and whose probabilities reach typical_p

override LANES: u32;
override VOCABULARY: u32;
override STRIDE: u32;
override MAX_LENGTH: u32; // of history, per slot

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> processed: array<f32>;
@group(0) @binding(2) var<storage, read> samples: array<Sample>;
@group(0) @binding(3) var<storage, read_write> feedback: array<u32>;
@group(0) @binding(4) var<storage, read_write> history: array<u32>; // the tokens of each slot's sequence
@group(0) @binding(5) var<storage, read_write> sampled: array<vec2<u32>>; // token or rank, bits of its log-probability

const BINS = 256u;
const MASS_ONE = 2147483648.0; // probability 1 in the fixed point of the top-p select

var<workgroup> histogram: array<atomic<u32>, BINS>;
var<workgroup> values: array<f32, LANES>;
var<workgroup> tokens: array<u32, LANES>;
var<workgroup> selected: vec2<u32>; // bin, weight above it

struct Best {
  value: f32,
  token: u32,
}

// Every lane gets the best of all lanes: the largest value, the lowest token among equals.
fn best_of(mine: Best, lane: u32) -> Best {
  values[lane] = mine.value;
  tokens[lane] = mine.token;
  workgroupBarrier();
  var best = Best(values[0], tokens[0]);
  for (var i = 1u; i < LANES; i++) {
    if (values[i] > best.value || (values[i] == best.value && tokens[i] < best.token)) {
      best = Best(values[i], tokens[i]);
    }
  }
  workgroupBarrier();
  return best;
}

fn sum_of(mine: f32, lane: u32) -> f32 {
  values[lane] = mine;
  workgroupBarrier();
  var sum = 0.0;
  for (var i = 0u; i < LANES; i++) {
    sum += values[i];
  }
  workgroupBarrier();
  return sum;
}

// Larger floats have larger keys.
fn key_of(value: f32) -> u32 {
  let bits = bitcast<u32>(value);
  return select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

// The logits that a sample draws from, and which of its tokens are left.
struct Distribution {
  base: u32,
  is_processed: bool,
  temperature: f32,
  highest: f32, // logit
  threshold: u32, // lowest key that top-k and top-p leave
  min_weight: f32, // lowest weight that min-p leaves
  total: f32, // sum of the weights of what is left; 0 while tokens are selected by count
  entropy: f32, // of what is left, in nats
  typical: u32, // lowest key of typicality that typical-p leaves
}

// In the order in which they come.
const TOP_K = 0u;
const TOP_P = 1u;
const TYPICAL_P = 2u;

fn logit_of(d: Distribution, token: u32) -> f32 {
  if (d.is_processed) {
    return processed[d.base + token];
  }
  return logits[d.base + token];
}

// exp((logit - highest) / temperature)
fn weight_of(logit: f32, d: Distribution) -> f32 {
  return exp((logit - d.highest) / d.temperature);
}

// How near a token's surprise is to the entropy: nearer ones have larger keys.
fn typicality_of(logit: f32, d: Distribution) -> u32 {
  let surprise = log(d.total) - (logit - d.highest) / d.temperature;
  return ~key_of(abs(surprise - d.entropy));
}

fn is_left(logit: f32, d: Distribution) -> bool {
  // The comparisons are such that a NaN is left, as the largest: it may be all there is.
  if (key_of(logit) < d.threshold || logit <= FORBIDDEN) {
    return false;
  }
  return d.min_weight == 0.0 || !(weight_of(logit, d) < d.min_weight);
}

// The sum of the weights of what is left.
fn total_of(d: Distribution, lane: u32) -> f32 {
  var total = 0.0;
  for (var t = lane; t < VOCABULARY; t += LANES) {
    let logit = logit_of(d, t);
    if (is_left(logit, d)) {
      total += weight_of(logit, d);
    }
  }
  return sum_of(total, lane);
}

// The largest key, of their logits or of their typicality, such that the tokens that are left and have it or a larger one
// weigh at least `goal` together: they count one each, or with a total their probability in fixed point. 0 where all
// together weigh less.
fn select_key(d: Distribution, by_typicality: bool, goal: u32, lane: u32) -> u32 {
  var prefix = 0u;
  var missing = goal;
  for (var round = 0u; round < 4u; round++) {
    let shift = 24u - 8u * round;
    for (var i = lane; i < BINS; i += LANES) {
      atomicStore(&histogram[i], 0u);
    }
    workgroupBarrier();
    for (var token = lane; token < VOCABULARY; token += LANES) {
      let logit = logit_of(d, token);
      if (!is_left(logit, d)) {
        continue;
      }
      var key = key_of(logit);
      if (by_typicality) {
        key = typicality_of(logit, d);
      }
      if (round == 0u || (key >> (shift + 8u)) == prefix) {
        var weight = 1u;
        if (d.total > 0.0) {
          weight = u32(weight_of(logit, d) / d.total * MASS_ONE + 0.5);
        }
        atomicAdd(&histogram[(key >> shift) & 255u], weight);
      }
    }
    workgroupBarrier();
    if (lane == 0u) {
      var bin = BINS - 1u;
      var above = 0u;
      var weight = atomicLoad(&histogram[bin]);
      while (bin > 0u && above + weight < missing) {
        above += weight;
        bin--;
        weight = atomicLoad(&histogram[bin]);
      }
      selected = vec2(bin, above);
    }
    let found = workgroupUniformLoad(&selected);
    prefix = (prefix << 8u) | found.x;
    missing -= found.y;
  }
  return prefix;
}

// The entropy of what is left, in nats.
fn entropy_of(d: Distribution, lane: u32) -> f32 {
  var entropy = 0.0;
  for (var t = lane; t < VOCABULARY; t += LANES) {
    let logit = logit_of(d, t);
    let weight = weight_of(logit, d);
    if (is_left(logit, d) && weight > 0.0) {
      entropy += weight / d.total * (log(d.total) - (logit - d.highest) / d.temperature);
    }
  }
  return sum_of(entropy, lane);
}

// The weight that the tokens a filter leaves must have together; 0 where the request does without it.
fn goal_of(filter_index: u32, request: Sample) -> u32 {
  if (filter_index == TOP_K) {
    return select(0u, request.top_k, request.top_k < VOCABULARY);
  }
  let share = select(request.top_p, request.typical_p, filter_index == TYPICAL_P);
  return select(0u, max(1u, u32(share * MASS_ONE)), share < 1.0);
}

// The filters of a request, one after the other, each over what those before it left. One loop, since compilers write out
// every call of a function anew.
fn filtered(request: Sample, unfiltered: Distribution, lane: u32) -> Distribution {
  var d = unfiltered;
  for (var filter_index = TOP_K; filter_index <= TYPICAL_P; filter_index++) {
    if (filter_index == TYPICAL_P) {
      d.min_weight = request.min_p;
    }
    let goal = goal_of(filter_index, request);
    if (goal == 0u) {
      continue;
    }
    if (filter_index != TOP_K) {
      d.total = total_of(d, lane);
    }
    if (filter_index == TYPICAL_P) {
      d.entropy = entropy_of(d, lane);
    }
    let key = select_key(d, filter_index == TYPICAL_P, goal, lane);
    if (filter_index == TYPICAL_P) {
      d.typical = key;
    } else {
      d.threshold = max(d.threshold, key);
    }
  }
  return d;
}

@compute @workgroup_size(LANES)
fn sample(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let request = samples[group.x];
  let base = group.x * STRIDE;
  var d = Distribution();
  d.base = base;
  let is_processed = (request.flags & PROCESSED) != 0u;
  d.is_processed = is_processed;
  d.temperature = request.temperature;

  var mine = Best(FORBIDDEN, VOCABULARY);
  for (var token = lane; token < VOCABULARY; token += LANES) {
    let value = logit_of(d, token);
    if (value > mine.value) {
      mine = Best(value, token);
    }
  }
  let greedy = best_of(mine, lane);
  d.highest = greedy.value;
  // Where no logit is a number that may be drawn there is no best: then any token will do, but it must be one.
  var token = select(greedy.token, 0u, greedy.token == VOCABULARY);

  let is_scored = (request.flags & SCORED) != 0u;
  if (is_scored) {
    token = request.scored_token;
  }
  if (request.temperature > 0.0) {
    d = filtered(request, d, lane);
    var drawn = Best(FORBIDDEN, VOCABULARY);
    for (var t = lane; t < VOCABULARY; t += LANES) {
      let logit = logit_of(d, t);
      if (is_left(logit, d) && (request.typical_p >= 1.0 || typicality_of(logit, d) >= d.typical)) {
        let noise = gumbel(vec2(request.seed_low, request.seed_high), vec2(request.output_index, t));
        let noisy = logit / d.temperature + noise;
        if (noisy > drawn.value) {
          drawn = Best(noisy, t);
        }
      }
    }
    let best = best_of(drawn, lane);
    if (best.token < VOCABULARY) {
      token = best.token;
    }
  }

  // Under the raw logits, as OpenAI and vLLM report it.
  var raw = d;
  raw.is_processed = false;
  var peak = greedy.value;
  if (is_processed) {
    var highest = FORBIDDEN;
    for (var t = lane; t < VOCABULARY; t += LANES) {
      highest = max(highest, logit_of(raw, t));
    }
    peak = best_of(Best(highest, 0u), lane).value;
  }
  var total = 0.0;
  for (var t = lane; t < VOCABULARY; t += LANES) {
    total += exp(logit_of(raw, t) - peak);
  }
  let logprob = logit_of(raw, token) - peak - log(sum_of(total, lane));
  if (is_scored) {
    var above = 0u;
    for (var t = lane; t < VOCABULARY; t += LANES) {
      above += select(0u, 1u, logit_of(raw, t) > logit_of(raw, token));
    }
    let rank = 1u + u32(sum_of(f32(above), lane)); // exact: f32 has all integers below 2^24
    if (lane == 0u) {
      sampled[group.x] = vec2(rank, bitcast<u32>(logprob));
    }
    return;
  }
  if (lane == 0u) {
    feedback[request.slot] = token;
    history[request.slot * MAX_LENGTH + request.prompt_length + request.output_index] = token;
    sampled[group.x] = vec2(token, bitcast<u32>(logprob));
  }
}
