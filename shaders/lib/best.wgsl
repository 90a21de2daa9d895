// The best of several tokens: the largest value, the lowest token among equals where they come in ascending order.

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

// Of tokens `t` too, which ascend.
fn better4(best: Best, l: vec4<f32>, t: vec4<u32>) -> Best {
  if (!any(l > vec4(best.value))) {
    return best;
  }
  return better(better(better(better(best, l.x, t.x), l.y, t.y), l.z, t.z), l.w, t.w);
}
