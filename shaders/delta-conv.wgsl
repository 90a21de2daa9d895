// x[row, i] = silu(sum over t < TAPS of weights[t, i] x[position - TAPS + 1 + t, i])      of q, k and v, in place
// x[row, b] = sigmoid(b);  x[row, a] = exp(rate softplus(a + bias))      x: [q | k | v | z | b | a] of each row
//
// One lane a (sequence, column) goes through the rows in order: it has read what it writes over. Rows before the step's are in
// the state that the sequence begins with. The order of additions follows from TAPS alone.

override LANES: u32;
override TAPS: u32;
override WIDTH: u32; // of q, k and v together
override WEIGHTS_STRIDE: u32;
override VALUE_WIDTH: u32; // of z
override HEADS: u32; // of values
override X_STRIDE: u32;

const RATES_STRIDE = (HEADS + 31u) / 32u * 32u;
// Rows that a lane loads at once: it waits for memory once for all of them.
const BATCH = 8u;

@group(0) @binding(0) var<storage, read> weights: array<f32>; // [TAPS, WEIGHTS_STRIDE]
@group(0) @binding(1) var<storage, read> rates: array<f32>; // [HEADS] negative rates, then biases from RATES_STRIDE on
@group(0) @binding(2) var<storage, read> sequences: array<StateRows>;
@group(0) @binding(3) var<storage, read> kept: array<u32>; // the slot that gets the state after a row, or NO_STATE
@group(0) @binding(4) var<storage, read_write> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> states: array<f32>;
@group(0) @binding(6) var<uniform> step: Step;

// log(1 + exp(x)). With e = exp(-|x|) it is max(x, 0) + log(1 + e), and log(1 + e) = 2 atanh(s) of s = e / (2 + e) <= 1/3: WGSL's
// log is inexact near 1. The series' next term is below 1.5e-8 of the sum.
fn softplus(x: f32) -> f32 {
  let e = exp(-abs(x));
  let s = e / (2.0 + e);
  let q = s * s;
  let series = 1.0 + q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q / 13.0)))));
  return max(x, 0.0) + 2.0 * s * series;
}

// The window's rows but the oldest: those that the next row reads.
fn keep(slot: u32, i: u32, window: ptr<function, array<f32, TAPS>>) {
  if (slot == NO_STATE) {
    return;
  }
  for (var t = 1u; t < TAPS; t++) {
    states[slot * STATE_WORDS + (t - 1u) * WIDTH + i] = (*window)[t];
  }
}

@compute @workgroup_size(LANES)
fn delta_conv(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = workgroup.x * LANES + lane;
  let sequence = sequences[workgroup.y];
  if (i >= WIDTH + 2u * HEADS) {
    return;
  }
  let is_convolved = i < WIDTH;
  let column = select(i + VALUE_WIDTH, i, is_convolved);
  let head = (max(i, WIDTH) - WIDTH) % HEADS;
  var window: array<f32, TAPS>; // ascending; the last one is the row's own
  if (is_convolved && sequence.reads != NO_STATE) {
    for (var t = 1u; t < TAPS; t++) {
      window[t] = states[sequence.reads * STATE_WORDS + (t - 1u) * WIDTH + i];
    }
  }
  let nothing = zero(step.num_rows);
  let end = sequence.first_row + sequence.num_rows;
  for (var first = sequence.first_row; first < end; first += BATCH) {
    var values: array<f32, BATCH>;
    for (var r = 0u; r < BATCH; r++) {
      values[r] = x[min(first + r, end - 1u) * X_STRIDE + column];
    }
    for (var r = 0u; r < BATCH && first + r < end; r++) {
      let row = first + r;
      let value = values[r];
      var result = 0.0;
      if (is_convolved) {
        for (var t = 1u; t < TAPS; t++) {
          window[t - 1u] = window[t];
        }
        window[TAPS - 1u] = value;
        var sum = nothing;
        for (var t = 0u; t < TAPS; t++) {
          sum = fma(weights[t * WEIGHTS_STRIDE + i], window[t], sum);
        }
        result = sum * sigmoid(sum, nothing);
        keep(kept[row], i, &window);
      } else if (i < WIDTH + HEADS) {
        result = sigmoid(value, nothing);
      } else {
        result = fma(value, nothing, exp(rates[head] * softplus(value + rates[RATES_STRIDE + head])));
      }
      x[row * X_STRIDE + column] = result;
    }
  }
  if (is_convolved) {
    keep(sequence.writes, i, &window);
  }
}
