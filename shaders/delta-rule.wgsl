// S = decay S;  S += k (b (v - k S));  y[row, head, :] = q S      for each row of a sequence, in order; S: [KEY_DIM, VALUE_DIM]
//
// x: [q | k | v | z | b | decay] of each row, as delta-conv.wgsl leaves them. q and k are divided by their lengths here, and q by
// sqrt(KEY_DIM). No column of S needs another. SHARE lanes have one column in registers, each some of its PARTS parts of
// consecutive rows. A part's sums are chains, ascending, and so is the sum of the parts: the order of additions follows from
// KEY_DIM alone, whatever SHARE is. One workgroup a (block of columns, head, sequence), one barrier a row: with what is known
// before S changes, q S is decay (q S) + (q k) change.

override LANES: u32; // of a workgroup
override COLUMNS: u32; // of a workgroup; LANES / COLUMNS is a divisor of PARTS
override KEY_DIM: u32; // a multiple of 4
override VALUE_DIM: u32;
override KEY_HEADS: u32;
override VALUE_HEADS: u32;
override TILED: bool; // value head j has key head j % KEY_HEADS; else neighbours share one
override CONV_WORDS: u32; // of a slot, before its matrices
override X_STRIDE: u32; // a multiple of 4
override Y_STRIDE: u32;

const PARTS = 8u;
const SHARE = LANES / COLUMNS; // lanes of a column
const KEY_VEC4 = KEY_DIM / 4u;
const PART_VEC4 = (KEY_VEC4 + PARTS - 1u) / PARTS;
const OWN_VEC4 = PARTS / SHARE * PART_VEC4; // of a lane
const EPSILON = 1e-6;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> sequences: array<StateRows>;
@group(0) @binding(2) var<storage, read> kept: array<u32>; // the slot that gets the state after a row, or NO_STATE
@group(0) @binding(3) var<storage, read_write> states: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<uniform> step: Step;

// Sums of each part, of even rows and of odd ones: so a barrier a row is enough.
var<workgroup> of_state: array<vec2<f32>, 2u * PARTS * COLUMNS>; // k S, q S
var<workgroup> of_row: array<vec4<f32>, 2u * PARTS>; // k k, q q, k q

fn scalar(row: u32, column: u32) -> f32 {
  return x[(row * X_STRIDE + column) / 4u][column % 4u];
}

fn dot_onto(sum: f32, a: vec4<f32>, b: vec4<f32>) -> f32 {
  return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

// Index of a column's value in row 4 k4 of the head's matrix.
fn state_index(slot: u32, head: u32, k4: u32, column: u32) -> u32 {
  return slot * STATE_WORDS + CONV_WORDS + (head * KEY_DIM + 4u * k4) * VALUE_DIM + column;
}

@compute @workgroup_size(COLUMNS, SHARE)
fn delta_rule(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let column = workgroup.x * COLUMNS + lane.x;
  let is_column = column < VALUE_DIM;
  let head = workgroup.y;
  let key_head = select(head / (VALUE_HEADS / KEY_HEADS), head % KEY_HEADS, TILED);
  let sequence = sequences[workgroup.z];
  let first_k4 = lane.y * OWN_VEC4;

  var state: array<vec4<f32>, OWN_VEC4>;
  for (var i = 0u; i < OWN_VEC4; i++) {
    if (is_column && first_k4 + i < KEY_VEC4 && sequence.reads != NO_STATE) {
      let at = state_index(sequence.reads, head, first_k4 + i, column);
      state[i] = vec4(states[at], states[at + VALUE_DIM], states[at + 2u * VALUE_DIM], states[at + 3u * VALUE_DIM]);
    }
  }

  for (var done = 0u; done < sequence.num_rows; done++) {
    let row = sequence.first_row + done;
    let query_at = row * (X_STRIDE / 4u) + key_head * KEY_VEC4;
    let turn = done % 2u * PARTS;
    var keys: array<vec4<f32>, OWN_VEC4>;
    for (var p = 0u; p < PARTS / SHARE; p++) {
      let part = turn + lane.y * (PARTS / SHARE) + p;
      var sums = vec2(zero(step.num_rows));
      var row_sums = vec3(zero(step.num_rows));
      for (var j = 0u; j < PART_VEC4; j++) {
        let i = p * PART_VEC4 + j;
        var query = vec4(0.0);
        if (first_k4 + i < KEY_VEC4) {
          query = x[query_at + first_k4 + i];
          keys[i] = x[query_at + KEY_HEADS * KEY_VEC4 + first_k4 + i];
        }
        sums = vec2(dot_onto(sums.x, keys[i], state[i]), dot_onto(sums.y, query, state[i]));
        row_sums = vec3(
          dot_onto(row_sums.x, keys[i], keys[i]),
          dot_onto(row_sums.y, query, query),
          dot_onto(row_sums.z, keys[i], query),
        );
      }
      of_state[part * COLUMNS + lane.x] = sums;
      if (lane.x == 0u) {
        of_row[part] = vec4(row_sums, 0.0);
      }
    }
    workgroupBarrier();
    var total = vec2(zero(step.num_rows));
    var row_total = vec4(zero(step.num_rows));
    for (var part = 0u; part < PARTS; part++) {
      total = fma(of_state[(turn + part) * COLUMNS + lane.x], vec2(one(step.num_rows)), total);
      row_total = fma(of_row[turn + part], vec4(one(step.num_rows)), row_total);
    }

    let scales = 1.0 / sqrt(row_total.xy + EPSILON);
    let beta_at = 2u * KEY_HEADS * KEY_DIM + 2u * VALUE_HEADS * VALUE_DIM + head;
    let decay = scalar(row, beta_at + VALUE_HEADS);
    let value = scalar(row, 2u * KEY_HEADS * KEY_DIM + head * VALUE_DIM + min(column, VALUE_DIM - 1u));
    // Before this row k S was of S without its decay, and of k as it is.
    let read = decay * scales.x * total.x;
    let change = scalar(row, beta_at) * scales.x * (value - read);
    for (var i = 0u; i < OWN_VEC4; i++) {
      state[i] = fma(keys[i], vec4(change), decay * state[i]);
    }
    if (is_column && lane.y == 0u) {
      let scale = scales.y / sqrt(f32(KEY_DIM));
      y[row * Y_STRIDE + head * VALUE_DIM + column] = scale * fma(row_total.z, change, decay * total.y);
    }
    if (is_column) {
      keep(kept[row], head, first_k4, column, &state);
    }
  }
  if (is_column) {
    keep(sequence.writes, head, first_k4, column, &state);
  }
}

fn keep(slot: u32, head: u32, first_k4: u32, column: u32, state: ptr<function, array<vec4<f32>, OWN_VEC4>>) {
  if (slot == NO_STATE) {
    return;
  }
  for (var i = 0u; i < OWN_VEC4; i++) {
    if (first_k4 + i < KEY_VEC4) {
      let at = state_index(slot, head, first_k4 + i, column);
      states[at] = (*state)[i].x;
      states[at + VALUE_DIM] = (*state)[i].y;
      states[at + 2u * VALUE_DIM] = (*state)[i].z;
      states[at + 3u * VALUE_DIM] = (*state)[i].w;
    }
  }
}
