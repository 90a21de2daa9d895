// keys[slot, position, head, :] = qkv[row, K of head, :], and the values likewise      qkv: [rows, QKV_STRIDE] f32
//
// One invocation writes four values of one head's key and the same four of its value; what lies beyond the head's size
// is written as zero. A dispatch before attention's, so that the rows of one prompt chunk see each other.

override LANES: u32;
override HEAD_SIZE: u32;
override QKV_STRIDE: u32;

@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> block_tables: array<u32>;
@group(0) @binding(3) var<storage, read_write> key_cache: array<u32>;
@group(0) @binding(4) var<storage, read_write> value_cache: array<u32>;

fn head_values(start: u32, column: u32) -> vec4<f32> {
  var values = vec4(0.0);
  for (var i = 0u; i < 4u && column + i < HEAD_SIZE; i++) {
    values[i] = qkv[start + column + i];
  }
  return values;
}

@compute @workgroup_size(LANES)
fn cache_write(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= HEADS * HEAD_VEC4) {
    return;
  }
  let head = id.x / HEAD_VEC4;
  let vec = id.x % HEAD_VEC4;
  let row = rows[id.y];
  let start = id.y * QKV_STRIDE + head * HEAD_SIZE;
  let key = head_values(start + HEADS * HEAD_SIZE, 4u * vec);
  let value = head_values(start + 2u * HEADS * HEAD_SIZE, 4u * vec);
  let index = cache_index(row.slot, row.position, head) + vec;
  if (CACHE_F16) {
    key_cache[2u * index] = pack2x16float(key.xy);
    key_cache[2u * index + 1u] = pack2x16float(key.zw);
    value_cache[2u * index] = pack2x16float(value.xy);
    value_cache[2u * index + 1u] = pack2x16float(value.zw);
  } else {
    for (var i = 0u; i < 4u; i++) {
      key_cache[4u * index + i] = bitcast<u32>(key[i]);
      value_cache[4u * index + i] = bitcast<u32>(value[i]);
    }
  }
}
