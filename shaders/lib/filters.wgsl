// The filters top-k, top-p, min-p and typical-p. sample.wgsl uses this file and provides `sum_of_all` and `bins`.
//
// A filter is a threshold on the logit, found by a radix select over its bits in memory, so later comparisons agree exactly
// with the counts. All sums are of integers, or of floats in an order fixed by LANES.

const BINS = 256u;
const MASS_ONE = 2147483648.0; // probability 1 in the fixed point of the top-p select

// Whether the histogram is in the buffer `bins` [samples, BINS]: software adapters take 0.1 s to compile 256 words of
// workgroup memory, whose zeros they write out.
override HISTOGRAM_IN_BUFFER: bool;
var<workgroup> histogram: array<atomic<u32>, BINS>;
var<workgroup> selected: vec2<u32>; // bin, weight above it

// The filters, in order.
const TOP_K = 0u;
const TOP_P = 1u;
const TYPICAL_P = 2u;
const NUM_FILTERS = 3u;

// The logits that a sample draws from, and the limits of the tokens that the filters keep.
struct Distribution {
  base: u32,
  is_processed: bool,
  temperature: f32,
  highest: f32, // logit
  threshold: u32, // lowest key that top-k and top-p keep
  min_weight: f32, // lowest weight that min-p keeps
  total: f32, // sum of the kept tokens' weights; 0 while tokens are selected by count
  entropy: f32, // of the kept tokens, in nats
  typical: u32, // lowest key of typicality that typical-p keeps
}

fn logit_of(d: Distribution, token: u32) -> f32 {
  if (d.is_processed) {
    return processed[d.base + token];
  }
  return logits[d.base + token];
}

// Returns the logits of four tokens; FORBIDDEN beyond the vocabulary.
fn logits4(d: Distribution, t: vec4<u32>) -> vec4<f32> {
  let l = vec4(logit_of(d, t.x), logit_of(d, t.y), logit_of(d, t.z), logit_of(d, t.w));
  return select(vec4(FORBIDDEN), l, t < vec4(VOCABULARY));
}

// Larger floats have larger keys.
fn key_of(value: f32) -> u32 {
  let bits = bitcast<u32>(value);
  return select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

// exp((logit - highest) / temperature)
fn weight_of(logit: f32, d: Distribution) -> f32 {
  return exp((logit - d.highest) / d.temperature);
}

// Returns a key that is larger the nearer the token's surprise is to the entropy.
fn typicality_of(logit: f32, d: Distribution) -> u32 {
  let surprise = log(d.total) - (logit - d.highest) / d.temperature;
  return ~key_of(abs(surprise - d.entropy));
}

fn is_left(logit: f32, d: Distribution) -> bool {
  // These comparisons keep NaN as the largest value: there may be nothing else.
  if (key_of(logit) < d.threshold || logit <= FORBIDDEN) {
    return false;
  }
  return d.min_weight == 0.0 || !(weight_of(logit, d) < d.min_weight);
}

// Returns whether typical-p, the last filter, keeps the token too.
fn may_be_drawn(logit: f32, d: Distribution) -> bool {
  return is_left(logit, d) && (d.typical == 0u || typicality_of(logit, d) >= d.typical);
}

// Returns the sum of the kept tokens' weights.
fn total_of(d: Distribution, lane: u32) -> f32 {
  var total = zero(samples[0].row);
  for (var t = lane; t < VOCABULARY; t += LANES) {
    let logit = logit_of(d, t);
    if (is_left(logit, d)) {
      total = fma(weight_of(logit, d), one(samples[0].row), total);
    }
  }
  return sum_of_all(total, lane);
}

fn clear_histogram(i: u32, lane: u32) {
  for (var bin = lane; bin < BINS; bin += LANES) {
    if (HISTOGRAM_IN_BUFFER) {
      atomicStore(&bins[i * BINS + bin], 0u);
    } else {
      atomicStore(&histogram[bin], 0u);
    }
  }
}

fn add_to_bin(i: u32, bin: u32, weight: u32) {
  if (HISTOGRAM_IN_BUFFER) {
    atomicAdd(&bins[i * BINS + bin], weight);
  } else {
    atomicAdd(&histogram[bin], weight);
  }
}

fn weight_in_bin(i: u32, bin: u32) -> u32 {
  if (HISTOGRAM_IN_BUFFER) {
    return atomicLoad(&bins[i * BINS + bin]);
  }
  return atomicLoad(&histogram[bin]);
}

fn wait_for_histogram() {
  if (HISTOGRAM_IN_BUFFER) {
    storageBarrier();
  } else {
    workgroupBarrier();
  }
}

// Returns the largest key (of logits, or of typicality) of sample i such that the kept tokens with this or a larger key weigh
// at least `goal` together; 0 if all together weigh less. A token weighs one, or with a total its probability in fixed point.
fn select_key(i: u32, d: Distribution, by_typicality: bool, goal: u32, lane: u32) -> u32 {
  var prefix = 0u;
  var missing = goal;
  for (var round = 0u; round < 4u; round++) {
    let shift = 24u - 8u * round;
    clear_histogram(i, lane);
    wait_for_histogram();
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
        add_to_bin(i, (key >> shift) & 255u, weight);
      }
    }
    wait_for_histogram();
    if (lane == 0u) {
      var bin = BINS - 1u;
      var above = 0u;
      var weight = weight_in_bin(i, bin);
      while (bin > 0u && above + weight < missing) {
        above += weight;
        bin--;
        weight = weight_in_bin(i, bin);
      }
      selected = vec2(bin, above);
    }
    let found = workgroupUniformLoad(&selected);
    prefix = (prefix << 8u) | found.x;
    missing -= found.y;
  }
  return prefix;
}

// Returns the entropy of the kept tokens, in nats.
fn entropy_of(d: Distribution, lane: u32) -> f32 {
  var entropy = zero(samples[0].row);
  for (var t = lane; t < VOCABULARY; t += LANES) {
    let logit = logit_of(d, t);
    let weight = weight_of(logit, d);
    if (is_left(logit, d) && weight > 0.0) {
      entropy = fma(weight / d.total, log(d.total) - (logit - d.highest) / d.temperature, entropy);
    }
  }
  return sum_of_all(entropy, lane);
}

// Returns the total weight that a filter of sample i keeps; 0 if it has no such filter.
fn goal_of(filter_index: u32, i: u32) -> u32 {
  if (filter_index == TOP_K) {
    return select(0u, samples[i].top_k, samples[i].top_k < VOCABULARY);
  }
  let share = select(samples[i].top_p, samples[i].typical_p, filter_index == TYPICAL_P);
  return select(0u, max(1u, u32(share * MASS_ONE)), share < 1.0);
}

// Applies the filters of sample i in order, each to the tokens that the earlier ones keep. It is one loop because compilers
// inline every call of a function.
fn filtered(i: u32, unfiltered: Distribution, lane: u32) -> Distribution {
  var d = unfiltered;
  for (var filter_index = TOP_K; filter_index < NUM_FILTERS; filter_index++) {
    if (filter_index == TYPICAL_P) {
      d.min_weight = samples[i].min_p;
    }
    let goal = goal_of(filter_index, i);
    if (goal == 0u) {
      continue;
    }
    if (filter_index != TOP_K) {
      d.total = total_of(d, lane);
    }
    if (filter_index == TYPICAL_P) {
      d.entropy = entropy_of(d, lane);
    }
    let key = select_key(i, d, filter_index == TYPICAL_P, goal, lane);
    if (filter_index == TYPICAL_P) {
      d.typical = key;
    } else {
      d.threshold = max(d.threshold, key);
    }
  }
  return d;
}
