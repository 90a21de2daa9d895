// An ONNX file taken apart again, by the numbers of onnx.proto. For tests.

export interface Tensor {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

export interface OnnxNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, readonly number[]>;
}

export interface ParsedOnnx {
  readonly nodes: readonly OnnxNode[];
  readonly constants: ReadonlyMap<string, Tensor>;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Axes of inputs, by name: sizes, or names for those that differ from call to call. */
  readonly inputAxes: ReadonlyMap<string, readonly (number | string)[]>;
}

type Field = number | Buffer;
type Message = ReadonlyMap<number, readonly Field[]>;

const FLOAT = 1;
const UINT8 = 2;
/** TensorProto.DataLocation. */
const EXTERNAL = 1;

/** @param beside weights that are not in the graph's file, by the names of theirs */
export function parseOnnx(file: Buffer, beside: ReadonlyMap<string, Buffer> = new Map()): ParsedOnnx {
  const graph = parseMessage(bytes(parseMessage(file), 7)[0] ?? Buffer.alloc(0));
  const nameOf = (value: Buffer) => text(parseMessage(value), 1);
  return {
    nodes: bytes(graph, 1).map((node) => parseNode(parseMessage(node))),
    constants: new Map(bytes(graph, 5).map((tensor) => parseTensor(parseMessage(tensor), beside))),
    inputs: bytes(graph, 11).map(nameOf),
    outputs: bytes(graph, 12).map(nameOf),
    inputAxes: new Map(bytes(graph, 11).map((value) => [nameOf(value), parseAxes(parseMessage(value))])),
  };
}

function parseNode(node: Message): OnnxNode {
  const attributes = bytes(node, 5).map((attribute) => {
    const fields = parseMessage(attribute);
    const float = bytes(fields, 2).map((value) => value.readFloatLE());
    return [text(fields, 1), [...float, ...integers(fields, 3), ...integers(fields, 8)]] as const;
  });
  const names = (field: number) => bytes(node, field).map(String);
  return { operator: text(node, 4), inputs: names(1), outputs: names(2), attributes: new Map(attributes) };
}

function parseAxes(value: Message): (number | string)[] {
  const child = (message: Message, field: number) => parseMessage(bytes(message, field)[0] ?? Buffer.alloc(0));
  const shape = child(child(child(value, 2), 1), 2);
  return bytes(shape, 1).map((axis) => {
    const fields = parseMessage(axis);
    return integers(fields, 1)[0] ?? text(fields, 2);
  });
}

function parseTensor(tensor: Message, beside: ReadonlyMap<string, Buffer>): [string, Tensor] {
  const isBeside = integers(tensor, 14)[0] === EXTERNAL;
  const raw = Uint8Array.from((isBeside ? readBeside(tensor, beside) : bytes(tensor, 9)[0]) ?? []).buffer;
  const type = integers(tensor, 2)[0];
  const data =
    type === UINT8
      ? Array.from(new Uint8Array(raw))
      : type === FLOAT
        ? Array.from(new Float32Array(raw))
        : Array.from(new BigInt64Array(raw), Number);
  const shape = integers(tensor, 1);
  if (data.length !== shape.reduce((product, size) => product * size, 1)) throw new Error(`${text(tensor, 8)}: length`);
  return [text(tensor, 8), { shape, data }];
}

function readBeside(tensor: Message, beside: ReadonlyMap<string, Buffer>): Buffer | undefined {
  const place = new Map(
    bytes(tensor, 13)
      .map(parseMessage)
      .map((entry) => [text(entry, 1), text(entry, 2)]),
  );
  const offset = Number(place.get("offset"));
  return beside.get(place.get("location") ?? "")?.subarray(offset, offset + Number(place.get("length")));
}

function parseMessage(buffer: Buffer): Message {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at++] ?? 0;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return Number(BigInt.asIntN(64, value));
    }
  };
  while (at < buffer.length) {
    const tag = varint();
    const wireType = tag & 7;
    let value: Field = NaN;
    if (wireType === 0) value = varint();
    else {
      const length = wireType === 5 ? 4 : varint();
      value = buffer.subarray(at, (at += length));
    }
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

function bytes(message: Message, field: number): Buffer[] {
  return (message.get(field) ?? []).filter((value) => typeof value !== "number");
}

function integers(message: Message, field: number): number[] {
  return (message.get(field) ?? []).filter((value) => typeof value === "number");
}

function text(message: Message, field: number): string {
  return String(bytes(message, field)[0] ?? "");
}
