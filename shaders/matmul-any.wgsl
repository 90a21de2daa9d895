// y[r, n] = epilogue(sum over k of x[r, k] w[k, n])      x: [rows, K], w: [K, N] packed, y: [rows, 4 Y4], N = 4 N4
//
// For the first steps on software adapters, which compile slowly: sizes and epilogue are data, so that one pipeline computes
// all products. The kernels that take over from it have constants instead. As in matmul-lane, a lane computes four columns of
// four rows; here it loads one k at a time, since each place that loads takes time to compile.

override LANES: u32;

// src/backends/gpu/matmul-variants.ts packs it.
struct Product {
  k4: u32,
  n4: u32,
  y4: u32, // stride of y over 4
  epilogue: u32,
  is_of_samples: u32, // one row per sample instead of per token
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec2<f32>>;
@group(0) @binding(4) var<uniform> step: Step;
@group(0) @binding(5) var<uniform> product: Product;

// Constants in the other kernels: the library's functions read them.
var<private> K4: u32;
var<private> N4: u32;
var<private> Y4: u32;
var<private> EPILOGUE: u32;

@compute @workgroup_size(LANES)
fn matmul_any(@builtin(global_invocation_id) id: vec3<u32>) {
  K4 = product.k4;
  N4 = product.n4;
  Y4 = product.y4;
  EPILOGUE = product.epilogue;
  let n4 = id.x;
  let row = 4u * id.y;
  if (n4 >= N4) {
    return;
  }
  let width = 4u * K4;
  let start = row * width;
  let nothing = vec4(zero(step.num_rows));
  var total0 = nothing;
  var total1 = nothing;
  var total2 = nothing;
  var total3 = nothing;
  for (var chunk = 0u; chunk < width; chunk += 32u) {
    var sum0 = nothing;
    var sum1 = nothing;
    var sum2 = nothing;
    var sum3 = nothing;
    let scales = chunk_scales(chunk / 4u, n4);
    for (var i = 0u; i < 32u; i++) {
      let k = chunk + i;
      let weights = weights_1x4(chunk / 4u, i, n4, scales);
      sum0 = fma(weights, vec4(x[start + k]), sum0);
      sum1 = fma(weights, vec4(x[start + width + k]), sum1);
      sum2 = fma(weights, vec4(x[start + 2u * width + k]), sum2);
      sum3 = fma(weights, vec4(x[start + 3u * width + k]), sum3);
    }
    let factor = vec4(one(step.num_rows));
    total0 = fma(sum0, factor, total0);
    total1 = fma(sum1, factor, total1);
    total2 = fma(sum2, factor, total2);
    total3 = fma(sum3, factor, total3);
  }
  let num_rows = select(step.num_rows, step.num_samples, product.is_of_samples != 0u);
  for (var i = 0u; i < 4u && row + i < num_rows; i++) {
    store(total0, n4, row + i);
    total0 = total1;
    total1 = total2;
    total2 = total3;
  }
}
