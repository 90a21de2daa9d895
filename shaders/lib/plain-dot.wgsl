// The sum of the products of four signed bytes, for any compiler.
fn dot_of_bytes(a: u32, b: u32) -> i32 { return dot(signed_bytes(a), signed_bytes(b)); }
