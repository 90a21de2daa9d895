// Counter-based random numbers: Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", 2011). A number depends only on its key and counter, so it is the same in any batch and in any replay.

fn rotate_left(x: u32, bits: u32) -> u32 {
  return (x << bits) | (x >> (32u - bits));
}

fn mixed(x: vec2<u32>, bits: u32) -> vec2<u32> {
  let sum = x.x + x.y;
  return vec2(sum, rotate_left(x.y, bits) ^ sum);
}

// Five times four rounds. Without arrays, since software adapters keep those in memory. In a loop, since they skip a loop
// that no lane needs.
fn threefry(key: vec2<u32>, counter: vec2<u32>) -> vec2<u32> {
  var keys = vec3(key, 0x1bd11bdau ^ key.x ^ key.y);
  var rotations = vec4(13u, 15u, 26u, 6u);
  var others = vec4(17u, 29u, 16u, 24u);
  var x = counter + key;
  for (var i = 1u; i < 6u; i++) {
    x = mixed(mixed(mixed(mixed(x, rotations.x), rotations.y), rotations.z), rotations.w);
    keys = keys.yzx;
    x += vec2(keys.x, keys.y + i);
    let these = rotations;
    rotations = others;
    others = these;
  }
  return x;
}

// Returns a standard Gumbel number. Its uniform number is 23 bits plus a half, the most that f32 holds without rounding, so
// it is never 0 or 1 and the result is finite.
fn gumbel(key: vec2<u32>, counter: vec2<u32>) -> f32 {
  let uniform_number = (f32(threefry(key, counter).x >> 9u) + 0.5) * 0x1p-23;
  return -log(-log(uniform_number));
}

// Returns logit / temperature + gumbel: the token with the most is drawn. `count`: see one().
fn luck_of(logit: f32, temperature: f32, key: vec2<u32>, counter: vec2<u32>, count: u32) -> f32 {
  return fma(logit / temperature, one(count), gumbel(key, counter));
}
