// The best of several tokens: the one with the largest value, and the first of those with equal values.

struct Best {
  value: f32,
  token: u32,
}

const NONE = Best(FORBIDDEN, 0xffffffffu);

// NaN is never better.
fn better(best: Best, value: f32, token: u32) -> Best {
  if (value > best.value) {
    return Best(value, token);
  }
  return best;
}

// Returns the best of `best` and four more tokens, in ascending order.
fn better4(best: Best, l: vec4<f32>, t: vec4<u32>) -> Best {
  if (!any(l > vec4(best.value))) {
    return best;
  }
  return better(better(better(better(best, l.x, t.x), l.y, t.y), l.z, t.z), l.w, t.w);
}
