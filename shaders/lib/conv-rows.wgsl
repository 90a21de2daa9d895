// The rows of a short convolution. `kept` is [blocks, KEPT_ROWS, KEPT_STRIDE].

override WIDTH: u32;
override X_STRIDE: u32;
override KEPT_STRIDE: u32;
override KEPT_ROWS: u32; // of a block
override BLOCK_SIZE: u32;
override MAX_BLOCKS: u32;

// Returns b x, with the bits that it has in `kept`.
fn gated(row: u32, i: u32) -> f32 {
  let at = row * X_STRIDE + i;
  return fma(x[at], x[at + 2u * WIDTH], zero(step.num_rows));
}

fn kept_index(slot: u32, position: u32) -> u32 {
  let block = block_tables[slot * MAX_BLOCKS + position / BLOCK_SIZE];
  return (block * KEPT_ROWS + position % BLOCK_SIZE % KEPT_ROWS) * KEPT_STRIDE;
}
