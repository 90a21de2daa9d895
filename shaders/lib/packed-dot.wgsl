// The sum of the products of four signed bytes, where the compiler has the language feature packed_4x8_integer_dot_product.
fn dot_of_bytes(a: u32, b: u32) -> i32 { return dot4I8Packed(a, b); }
