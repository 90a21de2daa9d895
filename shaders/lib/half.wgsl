// Rounds to the nearest half, ties to even, on every adapter. pack2x16float may round either way, even for the same value.
fn halves(values: vec4<f32>) -> vec4<u32> {
  let bits = bitcast<vec4<u32>>(values);
  let sign = (bits >> vec4(16u)) & vec4(0x8000u);
  let magnitude = bits & vec4(0x7fffffffu);
  // Rebiases the exponent from 127 to 15. Adding just under half of the last kept bit, plus that bit, sends ties to even.
  let normal = (magnitude - vec4(0x38000000u) + vec4(0xfffu) + ((magnitude >> vec4(13u)) & vec4(1u))) >> vec4(13u);
  // The last bit of 0.5 has the value of a subnormal half's last bit, so the addition rounds to it.
  let subnormal = bitcast<vec4<u32>>(bitcast<vec4<f32>>(magnitude) + vec4(0.5)) - vec4(bitcast<u32>(0.5f));
  let finite = select(normal, subnormal, magnitude < vec4(0x38800000u));
  let infinite = select(finite, vec4(0x7c00u), magnitude >= vec4(0x47800000u)); // 65536 and more
  return sign | select(infinite, vec4(0x7e00u), magnitude > vec4(0x7f800000u)); // NaN
}

// Whether this adapter takes subnormal halves for zero when it unpacks them: see src/backends/gpu/flushed-halves.ts.
const FLUSHES_HALVES = false;

fn from_halves(words: vec2<u32>) -> vec4<f32> {
  if (FLUSHES_HALVES) {
    return widened(words);
  }
  return vec4(unpack2x16float(words.x), unpack2x16float(words.y));
}

// Widens halves by integer arithmetic, which gives every adapter the same values.
fn widened(words: vec2<u32>) -> vec4<f32> {
  let halves = (words.xxyy >> vec4(0u, 16u, 0u, 16u)) & vec4(0xffffu);
  let magnitude = halves & vec4(0x7fffu);
  let finite = (magnitude << vec4(13u)) + vec4(0x38000000u);
  let normal = select(finite, finite + vec4(0x38000000u), magnitude >= vec4(0x7c00u)); // infinity stays so
  let subnormal = bitcast<vec4<u32>>(vec4<f32>(magnitude) * 5.9604644775390625e-8); // 2^-24
  let bits = select(normal, subnormal, magnitude < vec4(0x400u));
  return bitcast<vec4<f32>>(bits | ((halves & vec4(0x8000u)) << vec4(16u)));
}
