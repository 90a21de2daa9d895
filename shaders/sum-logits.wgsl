// logit_parts[i, p] = summary of logits 32 p .. 32 p + 31 of sample i, for the sampler      logits: [samples, STRIDE] f32
//
// For software adapters, whose head does not summarise its logits itself: see lib/logit-part.wgsl. One lane per part, so that
// the cores share even one sample, and no lane waits for another.

override LANES: u32;
override VOCABULARY: u32;
override STRIDE: u32;

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> samples: array<Sample>;
@group(0) @binding(2) var<storage, read_write> logit_parts: array<LogitPart>; // [samples, num_logit_parts()]

@compute @workgroup_size(LANES)
fn sum_logits(@builtin(global_invocation_id) id: vec3<u32>) {
  let part = id.x;
  let own = id.y;
  if (part >= num_logit_parts()) {
    return;
  }
  let first = part * PART_TOKENS;
  let base = own * STRIDE + first;
  let count = min(PART_TOKENS, VOCABULARY - first);
  var likeliest = Best(FORBIDDEN, 0u);
  for (var i = 0u; i < count; i++) {
    likeliest = better(likeliest, logits[base + i], i);
  }
  let row = samples[own].row;
  let factor = one(row);
  var total = zero(row);
  for (var i = 0u; i < count; i++) {
    total = fma(exp(logits[base + i] - likeliest.value), factor, total);
  }
  var luckiest = Best(FORBIDDEN, 0u);
  if (draws_freely(own)) {
    let temperature = samples[own].temperature;
    let seed = vec2(samples[own].seed_low, samples[own].seed_high);
    let output_index = samples[own].output_index;
    for (var i = 0u; i < count; i++) {
      let l = logits[base + i];
      let luck = luck_of(l, temperature, seed, vec2(output_index, first + i), row);
      // FORBIDDEN divided by the temperature might no longer be the lowest value.
      luckiest = better(luckiest, select(FORBIDDEN, luck, l > FORBIDDEN), i);
    }
  }
  let tokens = f32(likeliest.token + PART_TOKENS * luckiest.token);
  logit_parts[own * num_logit_parts() + part] = LogitPart(likeliest.value, total, luckiest.value, tokens);
}
