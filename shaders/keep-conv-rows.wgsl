// kept[block, position % KEPT_ROWS, i] = (b x)[row, i]      the last rows of each block, for later steps; x: [b | c | x] of each row
//
// A block's rows share KEPT_ROWS places: of two rows of this step for one place the later one counts.

override LANES: u32;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read_write> kept: array<f32>;
@group(0) @binding(4) var<uniform> step: Step;

@compute @workgroup_size(LANES)
fn keep_conv_rows(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = workgroup.x * LANES + lane;
  let row = rows[workgroup.y];
  let later = workgroup.y + KEPT_ROWS;
  let is_overwritten = later < step.num_rows && rows[min(later, step.num_rows - 1u)].slot == row.slot
    && row.position % BLOCK_SIZE + KEPT_ROWS < BLOCK_SIZE;
  if (i >= WIDTH || is_overwritten) {
    return;
  }
  kept[kept_index(row.slot, row.position) + i] = gated(workgroup.y, i);
}
