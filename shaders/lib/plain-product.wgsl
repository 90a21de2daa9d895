// What the products of the plain style share, but for x: their constants and buffers.

override K4: u32; // K, padded to a multiple of 32, over 4
override N4: u32;
override EPILOGUE: u32;
override Y4: u32; // stride of y over 4: more than w's columns where w has only part of them, half as much after a gate
override SAMPLES_ONLY: bool; // one row per sample instead of per token

@group(0) @binding(1) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<vec2<f32>>;
@group(0) @binding(4) var<uniform> step: Step;
