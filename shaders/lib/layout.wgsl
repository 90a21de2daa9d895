// How a matrix [K, N] lies in its buffer, for what reads it (weights.wgsl) and what writes it (pack-weights.wgsl). See README.md
// for the layouts, and src/files/packing.ts for what is packed.

const F32 = 0u;
const F16 = 1u;
const BF16 = 2u;
const PACKED = 3u;

override LAYOUT: u32; // one of these; the rest is only for PACKED
override BITS: u32; // of an integer: 4, 5, 6 or 8
override CENTRE: u32;
override GROUP: u32; // values of k that share a scale
override BLOCK: u32; // values of k that share d and m
override FLOAT_BITS: u32; // of d and m: 16 or 32
override FACTOR: f32;
override HAS_MINIMUM: bool;
override TABLE_0: u32; // the bytes that integers of 4 bits are indices of, lowest first; all zero: they are no indices
override TABLE_4: u32;
override TABLE_8: u32;
override TABLE_12: u32;

const HIGH_BITS = BITS & 3u; // of an integer, beside its nibble; 0 of 4 and of 8
const HIGH_ROWS = 8u >> (HIGH_BITS / 2u); // fours of k in an element of high bits
const HIGH_MASK = 0x01010101u * ((1u << HIGH_BITS) - 1u);
const HAS_TABLE = TABLE_0 != 0u;
const HAS_CODES = BLOCK > GROUP;
const PER_GROUP = 1u + u32(HAS_MINIMUM); // numbers that a group has, and a block

// Rows of elements before the codes, and before d and m.
fn codes_row(k4s: u32) -> u32 { return k4s * BITS / 8u; }
fn floats_row(k4s: u32) -> u32 { return codes_row(k4s) + u32(HAS_CODES) * k4s * PER_GROUP / GROUP; }
