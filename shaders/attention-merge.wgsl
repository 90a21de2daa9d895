// y[row, head, :] = the row's splits, joined in ascending order      parts: [row, head, split] as attention writes them
//
// One lane joins four values of a (row, head).

override LANES: u32;
override SPLIT: u32;
override MAX_SPLITS: u32;
override HEADS: u32;
override HEAD_SIZE: u32;
override HEAD_VEC4: u32;
override Y_STRIDE: u32;

@group(0) @binding(0) var<storage, read> parts: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(LANES)
fn attention_merge(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let head = (workgroup.x * LANES + lane) / HEAD_VEC4;
  let vec = (workgroup.x * LANES + lane) % HEAD_VEC4;
  if (head >= HEADS) {
    return;
  }
  let position = rows[workgroup.y].position;
  let start = (workgroup.y * HEADS + head) * MAX_SPLITS;
  var whole = nothing(position);
  for (var split = first_seen(position) / SPLIT; split < position / SPLIT + 1u; split++) {
    let part = (start + split) * (HEAD_VEC4 + 1u);
    let scales = parts[part + HEAD_VEC4];
    whole = joined(whole, SoftmaxPart(scales.x, scales.y, parts[part + vec]), position);
  }
  let output = whole.output / whole.total;
  for (var i = 0u; i < 4u && 4u * vec + i < HEAD_SIZE; i++) {
    y[workgroup.y * Y_STRIDE + head * HEAD_SIZE + 4u * vec + i] = output[i];
  }
}
