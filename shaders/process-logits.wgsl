// processed[i, :] = logits[i, :] after the request's rules      logits, processed: [samples, STRIDE] f32
//
// For beams the rules change log_softmax(logits[i, :]). One workgroup per sample; it returns at once if there are no rules.
// The order is Hugging Face's for the rules it has:
//   bias, repetition penalty, frequency and presence penalties, n-grams, bad words, end tokens too early, allowed tokens,
//   the mask of a grammar
// Forbidden tokens get the logit FORBIDDEN. Rules about the text read `history`, the sequence's tokens. The host writes it
// on admission and the sampler appends to it, so the rules cover tokens that the host has not seen yet.
//
// rules per slot: | biases | end tokens | bad word words | 1: has mask | mask [MASK_WORDS] | rule words ...
//   rule words:   (token, bits of its bias) x biases, then token x end tokens, then per bad word: length, tokens ..
// masks per MASKED sample: a bit per token, 1 if the token is allowed

override LANES: u32;
override VOCABULARY: u32;
override STRIDE: u32;
override MAX_LENGTH: u32; // of history, per slot
override RULE_WORDS: u32; // of rules, per slot, the header and the mask included

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> samples: array<Sample>;
@group(0) @binding(2) var<storage, read> history: array<u32>;
@group(0) @binding(3) var<storage, read> rules: array<u32>;
@group(0) @binding(4) var<storage, read> masks: array<u32>;
// Occurrences of each token: PROMPT if it is in the prompt, plus one per output. All zero before and after a dispatch.
@group(0) @binding(5) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> processed: array<f32>;

const HEADER_WORDS = 4u;
const PROMPT = 0x80000000u;

@compute @workgroup_size(LANES)
fn process_logits(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let request = samples[group.x];
  if ((request.flags & PROCESSED) == 0u) {
    return;
  }
  let base = group.x * STRIDE;
  let past = request.slot * MAX_LENGTH;
  let length = request.prompt_length + request.output_index;
  let table = request.slot * RULE_WORDS;
  let num_biases = rules[table];
  let num_end_tokens = rules[table + 1u];
  let bad_word_words = rules[table + 2u];
  let mask = table + HEADER_WORDS;
  let mask_words = (VOCABULARY + 31u) / 32u;
  let biases = mask + mask_words;
  let end_tokens = biases + 2u * num_biases;
  let bad_words = end_tokens + num_end_tokens;

  var log_total = 0.0;
  if ((request.flags & NORMALISED) != 0u) {
    log_total = log_total_of(base, lane);
  }
  for (var token = lane; token < VOCABULARY; token += LANES) {
    processed[base + token] = logits[base + token] - log_total;
  }
  storageBarrier();

  for (var i = lane; i < num_biases; i += LANES) {
    processed[base + rules[biases + 2u * i]] += bitcast<f32>(rules[biases + 2u * i + 1u]);
  }
  for (var i = lane; i < length; i += LANES) {
    let count = &counts[base + history[past + i]];
    if (i < request.prompt_length) {
      atomicOr(count, PROMPT);
    } else {
      atomicAdd(count, 1u);
    }
  }
  storageBarrier();

  // The lane that takes a token's count handles it, so each token is handled once.
  for (var i = lane; i < length; i += LANES) {
    let token = history[past + i];
    let count = atomicExchange(&counts[base + token], 0u);
    if (count == 0u) {
      continue;
    }
    var logit = processed[base + token];
    logit = select(logit / request.repetition_penalty, logit * request.repetition_penalty, logit < 0.0);
    let outputs = f32(count & ~PROMPT);
    if (outputs > 0.0) {
      logit -= request.frequency_penalty * outputs;
      logit -= request.presence_penalty;
    }
    processed[base + token] = logit;
  }
  storageBarrier();

  let ngram = request.no_repeat_ngram_size;
  if (ngram > 0u && length >= ngram) {
    for (var i = lane; i < length - ngram + 1u; i += LANES) {
      if (ends_with(past, length, past + i, ngram - 1u, false)) {
        processed[base + history[past + i + ngram - 1u]] = FORBIDDEN;
      }
    }
  }
  var word = 0u;
  for (var i = 0u; i < bad_word_words; word++) {
    let prefix = rules[bad_words + i] - 1u;
    if (word % LANES == lane && ends_with(past, length, bad_words + i + 1u, prefix, true)) {
      processed[base + rules[bad_words + i + 1u + prefix]] = FORBIDDEN;
    }
    i += prefix + 2u;
  }
  if ((request.flags & TOO_EARLY) != 0u) {
    for (var i = lane; i < num_end_tokens; i += LANES) {
      processed[base + rules[end_tokens + i]] = FORBIDDEN;
    }
  }
  storageBarrier();

  let has_mask = rules[table + 3u] == 1u;
  let is_masked = (request.flags & MASKED) != 0u;
  for (var token = lane; token < VOCABULARY && (has_mask || is_masked); token += LANES) {
    let word = token / 32u;
    let bit = 1u << (token % 32u);
    if ((has_mask && (rules[mask + word] & bit) == 0u) ||
        (is_masked && (masks[request.mask * mask_words + word] & bit) == 0u)) {
      processed[base + token] = FORBIDDEN;
    }
  }
}

// log(sum(exp(logits[base ..])))
fn log_total_of(base: u32, lane: u32) -> f32 {
  var mine = FORBIDDEN;
  for (var token = lane; token < VOCABULARY; token += LANES) {
    mine = max(mine, logits[base + token]);
  }
  let highest = best_of_all(Best(mine, 0u), lane).value;
  var total = zero(samples[0].row);
  for (var token = lane; token < VOCABULARY; token += LANES) {
    total = fma(exp(logits[base + token] - highest), one(samples[0].row), total);
  }
  return highest + log(sum_of_all(total, lane));
}

// Returns whether the history's last `count` tokens equal those at `start` in the rules or in the history.
fn ends_with(past: u32, length: u32, start: u32, count: u32, of_rules: bool) -> bool {
  if (count > length) {
    return false;
  }
  for (var i = 0u; i < count; i++) {
    var expected = 0u;
    if (of_rules) {
      expected = rules[start + i];
    } else {
      expected = history[start + i];
    }
    if (history[past + length - count + i] != expected) {
      return false;
    }
  }
  return true;
}
