// Builds an ONNX model node by node. The numbers are those of onnx.proto.
//
// A message of Protocol Buffers ends at 2 GB. The weights of a larger model are in files beside the graph, which names for
// each its file and place there ("external data").

/** A message, or bytes, in parts: weights are put in as they are, and copied only when the file is written. */
type Encoded = readonly Uint8Array[];
type Field = number | string | Float32Array | Encoded;

/** Elements' types. */
const FLOAT = 1;
const UINT8 = 2;
const INT64 = 7;
/** Values of Cast's `to`. */
export const INT32 = 6;
export const BOOL = 9;

const TYPES = { float: FLOAT, int64: INT64 } as const;

type OnnxAttribute = { readonly int: number } | { readonly ints: readonly number[] } | { readonly float: number };

interface NodeOptions {
  /** Names of its outputs; "" for unused ones. [one, made up] */
  readonly outputs?: readonly string[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  /** The operator set it is from. [ONNX's own] */
  readonly domain?: string;
}

/** Opsets: ONNX's own, and onnxruntime's. */
const OPSETS = { "": 17, "com.microsoft": 1 };
const IR_VERSION = 8;

const GB = 1e9;
/** Largest size of the graph's file, and of each file beside it. */
const MAX_FILE_BYTES = 1.9 * GB;
/** Shapes and scalars stay in the graph: onnxruntime looks at them before it reads other files. */
const LEAST_OUTSIDE_BYTES = 4096;
/** Alignment of a weight's beginning, as in onnxruntime's own exports. */
const ALIGNMENT = 4096;
/** TensorProto.DataLocation. */
const EXTERNAL = 1;

interface Constant {
  readonly name: string;
  readonly type: number;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** The parts of each file, in order, by its path. */
export type OnnxFiles = ReadonlyMap<string, Encoded>;

export class OnnxGraph {
  readonly #nodes: Encoded[] = [];
  readonly #constants: Constant[] = [];
  readonly #inputs: Encoded[] = [];
  readonly #outputs: Encoded[] = [];
  #numNodes = 0;

  /** @param inputs names; "" for an optional one that is left out @returns the name of its first output */
  node(operator: string, inputs: readonly string[], options: NodeOptions = {}): string {
    const name = `${operator}_${this.#numNodes++}`;
    const { outputs = [name], attributes = {}, domain } = options;
    const encoded = Object.entries(attributes).map(([key, value]) => encodeAttribute(key, value));
    this.#nodes.push(
      message({ 1: inputs, 2: outputs, 3: [name], 4: [operator], 5: encoded, 7: domain ? [domain] : [] }),
    );
    return outputs[0] ?? name;
  }

  /** A constant of floats; [] is a scalar. @returns its name */
  floats(name: string, shape: readonly number[], values: Float32Array): string {
    return this.#constant(name, FLOAT, shape, values);
  }

  /** A constant of bytes. @returns its name */
  bytes(name: string, shape: readonly number[], values: Uint8Array): string {
    return this.#constant(name, UINT8, shape, values);
  }

  /** A constant of whole numbers: a list, or a scalar. @returns its name */
  integers(name: string, values: readonly number[] | number): string {
    const isScalar = typeof values === "number";
    const list = isScalar ? [values] : values;
    return this.#constant(name, INT64, isScalar ? [] : [list.length], BigInt64Array.from(list, BigInt));
  }

  /** Axes are numbers, or names for what differs from call to call. */
  input(name: string, type: keyof typeof TYPES, axes: readonly (number | string)[]): void {
    this.#inputs.push(describeValue(name, TYPES[type], axes));
  }

  output(name: string, type: keyof typeof TYPES, axes: readonly (number | string)[]): void {
    this.#outputs.push(describeValue(name, TYPES[type], axes));
  }

  /** @param path of the graph's file; those beside it have the names that transformers.js looks for */
  encode(path: string, mostFileBytes = MAX_FILE_BYTES): OnnxFiles {
    const numBytes = this.#constants.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (numBytes <= mostFileBytes) return new Map([[path, this.#encodeGraph((constant) => encodeConstant(constant))]]);
    const outside = outsideConstants(`${path}_data`, mostFileBytes);
    const graph = this.#encodeGraph((constant) =>
      constant.bytes.length < LEAST_OUTSIDE_BYTES ? encodeConstant(constant) : outside.add(constant),
    );
    return new Map([[path, graph], ...outside.files]);
  }

  #encodeGraph(encodeEach: (constant: Constant) => Encoded): Encoded {
    const graph = message({
      1: this.#nodes,
      2: ["decoder"],
      5: this.#constants.map(encodeEach),
      11: this.#inputs,
      12: this.#outputs,
    });
    const opsets = Object.entries(OPSETS).map(([domain, version]) => message({ 1: [domain], 2: [version] }));
    return message({ 1: [IR_VERSION], 2: ["chorus"], 7: [graph], 8: opsets });
  }

  #constant(
    name: string,
    type: number,
    shape: readonly number[],
    values: Float32Array | BigInt64Array | Uint8Array,
  ): string {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    this.#constants.push({ name, type, shape, bytes });
    return name;
  }
}

/** A TensorProto, with its data or with what says where that is. */
function encodeConstant(
  { name, type, shape, bytes }: Constant,
  data: Readonly<Record<number, readonly Field[]>> = { 9: [[bytes]] },
): Encoded {
  return message({ 1: shape, 2: [type], 8: [name], ...data });
}

/** Returns what puts constants in files of their own, each begun when the one before is full. */
function outsideConstants(firstPath: string, mostFileBytes: number) {
  const files = new Map<string, Uint8Array[]>();
  let offset = Infinity;
  /** Returns the TensorProto that names its place. */
  const add = (constant: Constant): Encoded => {
    const { bytes } = constant;
    if (offset + bytes.length > mostFileBytes) {
      files.set(files.size === 0 ? firstPath : `${firstPath}_${files.size}`, []);
      offset = 0;
    }
    const [path = "", parts = []] = [...files].at(-1) ?? [];
    const location = path.slice(path.lastIndexOf("/") + 1);
    const padding = (ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT;
    const place = { location, offset: String(offset), length: String(bytes.length) };
    parts.push(bytes, new Uint8Array(padding));
    offset += bytes.length + padding;
    const entries = Object.entries(place).map(([key, value]) => message({ 1: [key], 2: [value] }));
    return encodeConstant(constant, { 13: entries, 14: [EXTERNAL] });
  };
  return { files, add };
}

function encodeAttribute(name: string, value: OnnxAttribute): Encoded {
  if ("float" in value) return message({ 1: [name], 2: [Float32Array.of(value.float)], 20: [1] });
  return "int" in value
    ? message({ 1: [name], 3: [value.int], 20: [2] })
    : message({ 1: [name], 8: value.ints, 20: [7] });
}

function describeValue(name: string, type: number, axes: readonly (number | string)[]): Encoded {
  const shape = axes.map((axis) => message(typeof axis === "number" ? { 1: [axis] } : { 2: [axis] }));
  const tensor = message({ 1: [type], 2: [message({ 1: shape })] });
  return message({ 1: [name], 2: [message({ 1: [tensor] })] });
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

/** Returns a message of Protocol Buffers: the values of each field by its number. */
function message(fields: Readonly<Record<number, readonly Field[]>>): Encoded {
  return Object.entries(fields).flatMap(([number, values]) =>
    values.flatMap((value): Encoded => {
      const tag = (wireType: number) => varint((Number(number) << 3) | wireType);
      if (typeof value === "number") return [tag(VARINT), varint(value)];
      if (value instanceof Float32Array) return [tag(FIXED_32), new Uint8Array(value.buffer)];
      const parts = typeof value === "string" ? [Buffer.from(value)] : value;
      return [tag(LENGTH_DELIMITED), varint(parts.reduce((sum, { length }) => sum + length, 0)), ...parts];
    }),
  );
}

/** Seven bits a byte, lowest first, the eighth set where more follow; a negative number as its 64-bit complement. */
function varint(value: number): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
