// The work of a product after its sum, in registers: adds the bias, then applies an activation, or adds to y.
//
// The two products of a gate are one. Pairs of their columns alternate, so that each four sums make two outputs:
//
//   z   gate n | gate n + 1 | up n | up n + 1      y   activation(gate n) * up n | activation(gate n + 1) * up (n + 1)

const BIAS_ONLY = 0u;
const GELU_TANH = 1u;
const GELU_ERF = 2u;
const ADD_TO_OUTPUT = 3u;
const HEAD = 4u; // bias only; lib/head.wgsl then summarises the logits
const SILU = 5u;
const RELU2 = 6u;
const GEGLU_TANH = 7u; // gates from here on
const GEGLU_ERF = 8u;
const SWIGLU = 9u;
const REGLU2 = 10u;

// `sum`: columns 4 n4 .. 4 n4 + 3 of one row. Each place that loads or stores takes time to compile on software adapters.
fn store(sum: vec4<f32>, n4: u32, row: u32) {
  let z = fma(sum, vec4(one(step.num_rows)), bias[n4]);
  let activated = activation(z);
  let is_gate = EPILOGUE >= GEGLU_TANH;
  let at = 2u * Y4 * row + select(2u * n4, n4, is_gate);
  var first = select(activated.xy, activated.xy * z.zw, is_gate);
  var second = activated.zw;
  if (EPILOGUE == ADD_TO_OUTPUT) {
    first = fma(first, vec2(one(step.num_rows)), y[at]);
    second = fma(second, vec2(one(step.num_rows)), y[at + 1u]);
  }
  y[at] = first;
  if (!is_gate) {
    y[at + 1u] = second;
  }
}

fn activation(z: vec4<f32>) -> vec4<f32> {
  switch EPILOGUE {
    case GELU_TANH, GEGLU_TANH: { return gelu_tanh(z); }
    case GELU_ERF, GEGLU_ERF: { return gelu_erf(z); }
    case SILU, SWIGLU: { return silu(z); }
    case RELU2, REGLU2: { return relu2(z); }
    default: { return z; }
  }
}
