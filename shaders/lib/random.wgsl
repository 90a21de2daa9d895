// Counter-based random numbers: Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", 2011). A number is a function of its key and counter alone, so no neighbour and no replay can change it.

fn rotate_left(x: u32, bits: u32) -> u32 {
  return (x << bits) | (x >> (32u - bits));
}

fn threefry(key: vec2<u32>, counter: vec2<u32>) -> vec2<u32> {
  let keys = array<u32, 3>(key.x, key.y, 0x1bd11bdau ^ key.x ^ key.y);
  let rotations = array<u32, 8>(13u, 15u, 26u, 6u, 17u, 29u, 16u, 24u);
  var x = counter + key;
  for (var round = 0u; round < 20u; round++) {
    x.x += x.y;
    x.y = rotate_left(x.y, rotations[round % 8u]) ^ x.x;
    if (round % 4u == 3u) {
      let i = round / 4u + 1u;
      x += vec2(keys[i % 3u], keys[(i + 1u) % 3u] + i);
    }
  }
  return x;
}

// A standard Gumbel number. The uniform number behind it has 23 bits and a half: that is the most that f32 holds without
// rounding, and so it is never 0 or 1 and the result is always finite.
fn gumbel(key: vec2<u32>, counter: vec2<u32>) -> f32 {
  let uniform_number = (f32(threefry(key, counter).x >> 9u) + 0.5) * 0x1p-23;
  return -log(-log(uniform_number));
}
