// The address of a position's keys and values in the cache, and their rounding there. See README.md for the layout.

override KV_HEADS: u32; // heads of keys and values
override HEAD_VEC4: u32; // the head's size, padded to a multiple of 4, over 4
override BLOCK_SIZE: u32; // tokens per block
override MAX_BLOCKS: u32; // row length of the block tables
override CACHE_F16: bool;

// Index, in units of 4 values, of the first value of (slot, position, head of keys and values).
fn cache_index(slot: u32, position: u32, kv_head: u32) -> u32 {
  let block = block_tables[slot * MAX_BLOCKS + position / BLOCK_SIZE];
  return ((block * KV_HEADS + kv_head) * BLOCK_SIZE + position % BLOCK_SIZE) * HEAD_VEC4;
}

fn to_halves(values: vec4<f32>) -> vec2<u32> {
  let words = halves(values);
  return words.xz | (words.yw << vec2(16u));
}

// Returns these values after a write to the cache and a read back.
fn as_cached(values: vec4<f32>) -> vec4<f32> {
  if (CACHE_F16) {
    return from_halves(to_halves(values));
  }
  return values;
}
