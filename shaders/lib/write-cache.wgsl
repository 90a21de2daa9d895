// Writes four values of a key and of a value to the cache, at cache_index(..) plus the index of the four in the head.
fn write_cache(index: u32, key: vec4<f32>, value: vec4<f32>) {
  if (CACHE_F16) {
    key_cache[index] = to_halves(key);
    value_cache[index] = to_halves(value);
  } else {
    key_cache[2u * index] = bitcast<vec2<u32>>(key.xy);
    key_cache[2u * index + 1u] = bitcast<vec2<u32>>(key.zw);
    value_cache[2u * index] = bitcast<vec2<u32>>(value.xy);
    value_cache[2u * index + 1u] = bitcast<vec2<u32>>(value.zw);
  }
}
