// Protocol Buffers' wire format, as far as ONNX needs it. A message is a list of byte arrays in order: weights are put
// in as they are, and copied only when the file is written.

export type Encoded = readonly Uint8Array[];

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

export function integerField(field: number, value: number | bigint): Encoded {
  return [varint(tag(field, VARINT)), varint(value)];
}

export function floatField(field: number, value: number): Encoded {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return [varint(tag(field, FIXED_32)), bytes];
}

export function textField(field: number, value: string): Encoded {
  return messageField(field, [Buffer.from(value)]);
}

/** Also for bytes. */
export function messageField(field: number, content: Encoded): Encoded {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return [varint(tag(field, LENGTH_DELIMITED)), varint(length), ...content];
}

function tag(field: number, wireType: number): number {
  return (field << 3) | wireType;
}

/** Seven bits a byte, lowest first, the eighth set where more follow; a negative number as its 64-bit complement. */
function varint(value: number | bigint): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
