// Summarises the logits after the model's head: each eight neighbouring threads, of four columns each, write a LogitPart.
// The kernel provides `put_aside` and `aside`, a place in workgroup memory for each of its threads.

override VOCABULARY: u32; // tokens that may be drawn; the columns beyond are padding
override FIRST_TOKEN: u32; // of the head's columns, where it lies in several parts: a multiple of 32

// Every thread of the workgroup must call it. `l`: logits 4 n4 .. 4 n4 + 3 of sample `row`, valid if `is_mine`.
fn leave_logit_part(l: vec4<f32>, n4: u32, row: u32, thread: u32, is_mine: bool) {
  put_aside(thread, part_of_four(l, FIRST_TOKEN + 4u * n4, row));
  workgroupBarrier();
  let part = (FIRST_TOKEN + 4u * n4) / PART_TOKENS;
  if (is_mine && thread % 8u == 0u && part < num_logit_parts()) {
    logit_parts[row * num_logit_parts() + part] = joined_part(thread);
  }
  workgroupBarrier();
}

fn part_of_four(logits: vec4<f32>, token: u32, row: u32) -> LogitPart {
  let t = token + vec4(0u, 1u, 2u, 3u);
  let l = select(vec4(FORBIDDEN), logits, t < vec4(VOCABULARY));
  let likeliest = better4(Best(FORBIDDEN, 0u), l, t % PART_TOKENS);
  let weights = exp(l - likeliest.value);
  var luckiest = Best(FORBIDDEN, 0u);
  if (draws_freely(row)) {
    let seed = vec2(samples[row].seed_low, samples[row].seed_high);
    for (var i = 0u; i < 4u; i++) {
      let counter = vec2(samples[row].output_index, t[i]);
      let luck = luck_of(l[i], samples[row].temperature, seed, counter, step.num_rows);
      // FORBIDDEN divided by the temperature might no longer be the lowest value.
      luckiest = better(luckiest, select(FORBIDDEN, luck, l[i] > FORBIDDEN), t[i] % PART_TOKENS);
    }
  }
  let pairs = fma(weights.xz, vec2(one(step.num_rows)), weights.yw);
  let total = fma(pairs.x, one(step.num_rows), pairs.y);
  return LogitPart(likeliest.value, total, luckiest.value, f32(likeliest.token + PART_TOKENS * luckiest.token));
}

// Joins the parts of eight threads in order.
fn joined_part(first: u32) -> LogitPart {
  var likeliest = Best(FORBIDDEN, 0u);
  var luckiest = Best(FORBIDDEN, 0u);
  for (var i = 0u; i < 8u; i++) {
    let part = aside(first + i);
    likeliest = better(likeliest, part.peak, u32(part.tokens) % PART_TOKENS);
    luckiest = better(luckiest, part.luck, u32(part.tokens) / PART_TOKENS);
  }
  var total = zero(step.num_rows);
  for (var i = 0u; i < 8u; i++) {
    let part = aside(first + i);
    total = fma(part.total, exp(part.peak - likeliest.value), total);
  }
  return LogitPart(likeliest.value, total, luckiest.value, f32(likeliest.token + PART_TOKENS * luckiest.token));
}
