// The states of a step's sequences. src/backends/gpu/step-states.ts writes this part of a step's data.
//
// `states` is [slots, STATE_WORDS]: rows of the convolution [TAPS - 1, WIDTH], then a matrix [KEY_DIM, VALUE_DIM] of each head.

override STATE_WORDS: u32; // of a slot

// Consecutive rows of one sequence.
struct StateRows {
  first_row: u32,
  num_rows: u32,
  reads: u32, // the slot of the state before them; NO_STATE: zeros
  writes: u32, // the slot of the state after them; NO_STATE: none
}

const NO_STATE = 0xffffffffu;
