// The roof that arithmetic sets: multiplications and additions in registers, in eight chains that don't wait for each
// other. What they come to is written, so that no compiler leaves them out.

@group(0) @binding(0) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> results: array<vec4<f32>>;

override ROUNDS: u32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let factor = values[id.x];
  var a = factor;
  var b = factor + 1.0;
  var c = factor + 2.0;
  var d = factor + 3.0;
  var e = factor + 4.0;
  var f = factor + 5.0;
  var g = factor + 6.0;
  var h = factor + 7.0;
  for (var i = 0u; i < ROUNDS; i++) {
    a = fma(a, factor, factor);
    b = fma(b, factor, factor);
    c = fma(c, factor, factor);
    d = fma(d, factor, factor);
    e = fma(e, factor, factor);
    f = fma(f, factor, factor);
    g = fma(g, factor, factor);
    h = fma(h, factor, factor);
  }
  results[id.x] = a + b + c + d + e + f + g + h;
}
