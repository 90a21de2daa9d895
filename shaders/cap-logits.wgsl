// logits = CAP tanh(logits / CAP), in place      logits: [samples, STRIDE] f32
//
// For the few families whose logits have a cap. Their head does not summarise its logits: sum-logits does, after this.

override LANES: u32;
override STRIDE: u32;

@group(0) @binding(0) var<storage, read_write> logits: array<f32>;

@compute @workgroup_size(LANES)
fn cap_logits(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < STRIDE) {
    let at = id.y * STRIDE + id.x;
    logits[at] = capped(logits[at]);
  }
}
