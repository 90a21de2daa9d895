// feedback[slot] = token drawn from softmax(logits[i, :] / temperature)      logits: [samples, STRIDE] f32
// sampled[i] = (token, log_softmax(logits[i, :])[token])
//
// A SCORED sample draws nothing: sampled[i] = (rank of its scored_token, its log-probability).
//
// It takes the samples that are PLAIN, and sample.wgsl takes the others, with rules and filters. It compiles in a quarter of the
// time, so the first answer need not wait. A sample always goes the same way, whoever shares its step. Both give the same bits.
//
// One workgroup per sample. Everything but a rank comes from the summaries of each 32 logits: at temperature 0 the largest
// logit, else the largest logit / temperature + gumbel(seed, output index, token), which is a draw from the softmax. Equal
// values go to the lowest token. The order of the sum is fixed by LANES.

override LANES: u32;
override VOCABULARY: u32;
override STRIDE: u32;
override MAX_LENGTH: u32; // of history, per slot

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> samples: array<Sample>;
@group(0) @binding(2) var<storage, read> logit_parts: array<LogitPart>; // [samples, num_logit_parts()]
@group(0) @binding(3) var<storage, read_write> feedback: array<u32>;
@group(0) @binding(4) var<storage, read_write> history: array<u32>; // the tokens of each slot's sequence
@group(0) @binding(5) var<storage, read_write> sampled: array<vec2<u32>>; // token or rank, bits of its log-probability

// Two reductions share each loop over the lanes, since compilers write out every loop: the likeliest token and the luckiest,
// and then the sums of the softmax and of a rank.
var<workgroup> values: array<vec2<f32>, LANES>;
var<workgroup> tokens: array<vec2<u32>, LANES>;

const NONE = 0xffffffffu;

@compute @workgroup_size(LANES)
fn sample_plain(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let own = group.x;
  let flags = samples[own].flags;
  if ((flags & PLAIN) == 0u) {
    return;
  }
  let is_scored = (flags & SCORED) != 0u;

  // (likeliest, luckiest)
  var best = vec2(FORBIDDEN);
  var found = vec2(NONE);
  var total = zero(samples[0].row); // sum of exp(logit - best.x)
  for (var i = lane; i < num_logit_parts(); i += LANES) {
    let part = logit_parts[own * num_logit_parts() + i];
    let peak = max(best.x, part.peak);
    total = fma(total, exp(best.x - peak), zero(samples[0].row));
    total = fma(part.total, exp(part.peak - peak), total);
    let offered = vec2(part.peak, part.luck);
    let is_better = offered > best; // NaN never is
    let indices = u32(part.tokens);
    best = select(best, offered, is_better);
    found = select(found, i * PART_TOKENS + vec2(indices % PART_TOKENS, indices / PART_TOKENS), is_better);
  }
  let peak = best.x;

  values[lane] = best;
  tokens[lane] = found;
  workgroupBarrier();
  best = vec2(FORBIDDEN);
  found = vec2(NONE);
  for (var i = 0u; i < LANES; i++) {
    let value = values[i];
    let token = tokens[i];
    let is_better = (value > best) | ((value == best) & (token < found));
    best = select(best, value, is_better);
    found = select(found, token, is_better);
  }
  workgroupBarrier();

  // If every logit is NaN there is no best token. Any valid one will do.
  var token = select(found.x, 0u, found.x == NONE);
  if (samples[own].temperature > 0.0) {
    token = select(found.y, token, found.y == NONE);
  }
  if (is_scored) {
    token = samples[own].scored_token;
  }
  let logit = logits[own * STRIDE + token];
  var above = 0.0;
  if (is_scored) {
    for (var t = lane; t < VOCABULARY; t += LANES) {
      above += select(0.0, 1.0, logits[own * STRIDE + t] > logit);
    }
  }

  values[lane] = vec2(total * exp(peak - best.x), above);
  workgroupBarrier();
  if (lane > 0u) {
    return;
  }
  var sums = vec2(zero(samples[0].row));
  for (var i = 0u; i < LANES; i++) {
    sums = fma(values[i], vec2(one(samples[0].row)), sums);
  }
  let logprob = bitcast<u32>(logit - best.x - log(sums.x));
  if (is_scored) {
    sampled[own] = vec2(1u + u32(sums.y), logprob); // exact below 2^24
    return;
  }
  let slot = samples[own].slot;
  feedback[slot] = token;
  history[slot * MAX_LENGTH + samples[own].prompt_length + samples[own].output_index] = token;
  sampled[own] = vec2(token, logprob);
}
