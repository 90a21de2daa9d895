// feedback[slot] = token drawn from softmax(filter(logits[i, :] / temperature))      logits: [samples, STRIDE] f32
//
// One workgroup a sample. Gumbel's trick draws without a second pass: the token with the largest
// logit / temperature + gumbel(seed, output index, token) is a draw from the softmax. Filters are thresholds on the
// logit, found by a radix select over its bits as they lie in memory: what is compared later is exactly what was counted.
// All sums are of integers, or of floats in an order fixed by LANES.
//   temperature 0: the largest logit, the lowest id among equals
//   top-k: the k largest, and what equals the k-th
//   top-p: of those, the fewest largest whose probabilities reach p

override LANES: u32;
override VOCABULARY: u32;
override STRIDE: u32;

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> samples: array<Sample>;
@group(0) @binding(2) var<storage, read_write> feedback: array<u32>;
@group(0) @binding(3) var<storage, read_write> sampled: array<vec2<u32>>; // token, bits of its log-probability

const BINS = 256u;
const LOWEST = -3.4028234e38;
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

struct Distribution {
  base: u32,
  temperature: f32,
  highest: f32, // logit
  total: f32, // sum of the weights of what top-k left; 0 selects by count
}

// exp((logit - highest) / temperature)
fn weight_of(logit: f32, d: Distribution) -> f32 {
  return exp((logit - d.highest) / d.temperature);
}

// The largest key such that the tokens from it upwards (among those from `floor_key` upwards) weigh at least `goal`
// together: tokens count one each, or with a total their probability in fixed point. 0 where all together weigh less.
fn select_key(d: Distribution, floor_key: u32, goal: u32, lane: u32) -> u32 {
  var prefix = 0u;
  var missing = goal;
  for (var round = 0u; round < 4u; round++) {
    let shift = 24u - 8u * round;
    for (var i = lane; i < BINS; i += LANES) {
      atomicStore(&histogram[i], 0u);
    }
    workgroupBarrier();
    for (var token = lane; token < VOCABULARY; token += LANES) {
      let logit = logits[d.base + token];
      let key = key_of(logit);
      if (key >= floor_key && (round == 0u || (key >> (shift + 8u)) == prefix)) {
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

@compute @workgroup_size(LANES)
fn sample(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let request = samples[group.x];
  let base = group.x * STRIDE;

  var mine = Best(LOWEST, VOCABULARY);
  for (var token = lane; token < VOCABULARY; token += LANES) {
    let value = logits[base + token];
    if (value > mine.value) {
      mine = Best(value, token);
    }
  }
  let greedy = best_of(mine, lane);
  // Where no logit is a number there is no best: then any token will do, but it must be one.
  var token = min(greedy.token, VOCABULARY - 1u);

  if (request.temperature > 0.0) {
    var d = Distribution(base, request.temperature, greedy.value, 0.0);
    var threshold = 0u;
    if (request.top_k > 0u && request.top_k < VOCABULARY) {
      threshold = select_key(d, 0u, request.top_k, lane);
    }
    if (request.top_p < 1.0) {
      var total = 0.0;
      for (var t = lane; t < VOCABULARY; t += LANES) {
        let logit = logits[base + t];
        if (key_of(logit) >= threshold) {
          total += weight_of(logit, d);
        }
      }
      d.total = sum_of(total, lane);
      let goal = max(1u, u32(request.top_p * MASS_ONE));
      threshold = max(threshold, select_key(d, threshold, goal, lane));
    }
    var drawn = Best(LOWEST, VOCABULARY);
    for (var t = lane; t < VOCABULARY; t += LANES) {
      let logit = logits[base + t];
      if (key_of(logit) >= threshold) {
        let noise = gumbel(vec2(request.seed_low, request.seed_high), vec2(request.output_index, t));
        let noisy = logit / d.temperature + noise;
        if (noisy > drawn.value) {
          drawn = Best(noisy, t);
        }
      }
    }
    let best = best_of(drawn, lane);
    if (best.token < VOCABULARY) { // NaNs count as the largest logits: they may be all that the filters left
      token = best.token;
    }
  }

  // Under the raw logits, as OpenAI and vLLM report it.
  var total = 0.0;
  for (var t = lane; t < VOCABULARY; t += LANES) {
    total += exp(logits[base + t] - greedy.value);
  }
  let logprob = logits[base + token] - greedy.value - log(sum_of(total, lane));
  if (lane == 0u) {
    feedback[request.slot] = token;
    sampled[group.x] = vec2(token, bitcast<u32>(logprob));
  }
}
