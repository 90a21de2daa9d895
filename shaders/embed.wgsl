// x[row, :] = wte[token, :] * SCALE + wpe[position, :]      x: [rows, WIDTH] f32, wte: [width, vocabulary] like a head
// wpe: only if positions are learned

override LANES: u32;
override K4: u32; // the width, padded, over 4
override N4: u32; // tokens in w, padded, over 4
override SCALE: f32;
override LEARNED_POSITIONS: bool;
override FIRST_TOKEN: u32; // first token of w if w is a part of the vocabulary; other parts embed the other tokens

@group(0) @binding(0) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> wpe: array<f32>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read> feedback: array<u32>;
@group(0) @binding(4) var<storage, read_write> x: array<f32>;

@compute @workgroup_size(LANES)
fn embed(@builtin(global_invocation_id) id: vec3<u32>) {
  let column = id.x;
  let row = rows[id.y];
  let width = 4u * K4;
  if (column >= width) {
    return;
  }
  var token = row.token;
  if (token == FEEDBACK) {
    token = feedback[row.slot];
  }
  let n = token - FIRST_TOKEN; // wraps around for lower tokens
  if (n >= 4u * N4) {
    return;
  }
  var value = weight(column, n) * SCALE;
  if (LEARNED_POSITIONS) {
    value = fma(wpe[row.position * width + column], one(row.position), value);
  }
  x[id.y * width + column] = value;
}
