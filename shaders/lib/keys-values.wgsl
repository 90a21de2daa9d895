// Reads of keys and values from the cache and from this step's rows, for the kernels of attention. They declare qkv,
// key_cache and value_cache.

override HEADS: u32; // query heads
override HEAD_SIZE: u32;
override QKV_STRIDE: u32;

const QUERY = 0u;
const KEY = 1u;
const VALUE = 2u;

// Returns four values of one head of a row's query, key or value; zero beyond the head's size. qkv has the queries, then
// the keys, then the values. `head` counts query heads for QUERY, and heads of keys and values for KEY and VALUE.
fn projected4(row: u32, part: u32, head: u32, vec: u32) -> vec4<f32> {
  let first_head = select(HEADS + (part - KEY) * KV_HEADS, 0u, part == QUERY);
  let start = row * QKV_STRIDE + (first_head + head) * HEAD_SIZE + 4u * vec;
  if (HEAD_SIZE % 4u == 0u) {
    return qkv[start / 4u];
  }
  var values = vec4(0.0);
  for (var i = 0u; i < 4u; i++) {
    if (4u * vec + i < HEAD_SIZE) {
      values[i] = qkv[(start + i) / 4u][(start + i) % 4u];
    }
  }
  return values;
}

fn key4(index: u32) -> vec4<f32> {
  if (CACHE_F16) {
    return from_halves(key_cache[index]);
  }
  return bitcast<vec4<f32>>(vec4(key_cache[2u * index], key_cache[2u * index + 1u]));
}

fn value4(index: u32) -> vec4<f32> {
  if (CACHE_F16) {
    return from_halves(value_cache[index]);
  }
  return bitcast<vec4<f32>>(vec4(value_cache[2u * index], value_cache[2u * index + 1u]));
}
