// To the nearest half, ties to even, whatever the adapter: pack2x16float may round either way, and need not round the same
// way twice.
fn halves(values: vec4<f32>) -> vec4<u32> {
  let bits = bitcast<vec4<u32>>(values);
  let sign = (bits >> vec4(16u)) & vec4(0x8000u);
  let magnitude = bits & vec4(0x7fffffffu);
  // Exponents are biased by 127 and by 15. Just below half of the last kept bit, plus that bit: a tie goes to even.
  let normal = (magnitude - vec4(0x38000000u) + vec4(0xfffu) + ((magnitude >> vec4(13u)) & vec4(1u))) >> vec4(13u);
  // The last bit of 0.5 is worth what the last bit of a subnormal half is: the addition rounds to it.
  let subnormal = bitcast<vec4<u32>>(bitcast<vec4<f32>>(magnitude) + vec4(0.5)) - vec4(bitcast<u32>(0.5f));
  let finite = select(normal, subnormal, magnitude < vec4(0x38800000u));
  let infinite = select(finite, vec4(0x7c00u), magnitude >= vec4(0x47800000u)); // 65536 and more
  return sign | select(infinite, vec4(0x7e00u), magnitude > vec4(0x7f800000u)); // not a number
}
