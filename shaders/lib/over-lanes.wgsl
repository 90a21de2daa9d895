// Reductions over a workgroup's lanes, each with its share of a row of logits: the best token, a sum, a softmax. They run
// in the order of the lanes, so that the bits are the same in every kernel.

// Returns a lane's first four tokens; adding 4 LANES gives the next ones. Neighbouring lanes load neighbouring tokens,
// which every adapter reads fastest.
fn lanes_apart(lane: u32) -> vec4<u32> {
  return vec4(lane, lane + LANES, lane + 2u * LANES, lane + 3u * LANES);
}

var<workgroup> values: array<f32, LANES>;
var<workgroup> tokens: array<u32, LANES>;

// Returns the best of all lanes, to every lane: the largest value, the lowest token among equals.
fn best_of_all(mine: Best, lane: u32) -> Best {
  values[lane] = mine.value;
  tokens[lane] = mine.token;
  workgroupBarrier();
  var best = Best(values[0], tokens[0]);
  for (var i = 1u; i < LANES; i++) {
    let value = values[i];
    let token = tokens[i];
    if (value > best.value || (value == best.value && token < best.token)) {
      best = Best(value, token);
    }
  }
  workgroupBarrier();
  return best;
}

fn sum_of_all(mine: f32, lane: u32) -> f32 {
  values[lane] = mine;
  workgroupBarrier();
  var sum = zero(samples[0].row);
  for (var i = 0u; i < LANES; i++) {
    sum = fma(values[i], one(samples[0].row), sum);
  }
  workgroupBarrier();
  return sum;
}

struct Softmax {
  peak: f32, // the largest logit
  total: f32, // sum of exp(logit - peak)
}

const NO_SOFTMAX = Softmax(FORBIDDEN, 0.0);

// Adds a part of the logits to a lane's softmax: see lib/logit-part.wgsl.
fn with_part(softmax: Softmax, part: LogitPart) -> Softmax {
  let peak = max(softmax.peak, part.peak);
  let earlier = fma(softmax.total, exp(softmax.peak - peak), zero(samples[0].row));
  return Softmax(peak, fma(part.total, exp(part.peak - peak), earlier));
}

fn softmax_of_all(mine: Softmax, lane: u32) -> Softmax {
  let peak = best_of_all(Best(mine.peak, 0u), lane).value;
  return Softmax(peak, sum_of_all(mine.total * exp(mine.peak - peak), lane));
}

fn logprob_in(softmax: Softmax, logit: f32) -> f32 {
  return logit - softmax.peak - log(softmax.total);
}
