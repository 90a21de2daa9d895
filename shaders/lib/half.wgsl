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
