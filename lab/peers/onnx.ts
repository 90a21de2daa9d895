// Builds an ONNX model node by node. The numbers are those of onnx.proto.
//
// A message of Protocol Buffers ends at 2 GB. The weights of a larger model are in files beside the graph, which names for
// each its file and place there ("external data").

import { floatField, integerField, messageField, textField, type Encoded } from "./protobuf.ts";

/** Elements' types. */
const FLOAT = 1;
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

  /**
   * @param inputs names; "" for an optional one that is left out
   * @returns the name of its first output
   */
  node(operator: string, inputs: readonly string[], options: NodeOptions = {}): string {
    const name = `${operator}_${this.#numNodes++}`;
    const { outputs = [name], attributes = {}, domain } = options;
    this.#nodes.push(
      messageField(1, [
        ...inputs.flatMap((input) => textField(1, input)),
        ...outputs.flatMap((output) => textField(2, output)),
        ...textField(3, name),
        ...textField(4, operator),
        ...Object.entries(attributes).flatMap(([key, value]) => encodeAttribute(key, value)),
        ...(domain ? textField(7, domain) : []),
      ]),
    );
    return outputs[0] ?? name;
  }

  /** A constant of floats; [] is a scalar. @returns its name */
  floats(name: string, shape: readonly number[], values: Float32Array): string {
    return this.#constant(name, FLOAT, shape, values);
  }

  /** A constant of whole numbers: a list, or a scalar. @returns its name */
  integers(name: string, values: readonly number[] | number): string {
    const isScalar = typeof values === "number";
    const list = isScalar ? [values] : values;
    return this.#constant(name, INT64, isScalar ? [] : [list.length], BigInt64Array.from(list, BigInt));
  }

  /** Axes are numbers, or names for what differs from call to call. */
  input(name: string, type: keyof typeof TYPES, axes: readonly (number | string)[]): void {
    this.#inputs.push(describeValue(11, name, TYPES[type], axes));
  }

  output(name: string, type: keyof typeof TYPES, axes: readonly (number | string)[]): void {
    this.#outputs.push(describeValue(12, name, TYPES[type], axes));
  }

  /** @param path of the graph's file; those beside it have the names that transformers.js looks for */
  encode(path: string, mostFileBytes = MAX_FILE_BYTES): OnnxFiles {
    const numBytes = this.#constants.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (numBytes <= mostFileBytes) return new Map([[path, this.#encodeGraph(encodeConstant)]]);
    const outside = new OutsideConstants(`${path}_data`, mostFileBytes);
    const graph = this.#encodeGraph((constant) =>
      constant.bytes.length < LEAST_OUTSIDE_BYTES ? encodeConstant(constant) : outside.add(constant),
    );
    return new Map([[path, graph], ...outside.files]);
  }

  #encodeGraph(encodeEach: (constant: Constant) => Encoded): Encoded {
    const graph = [
      ...this.#nodes.flat(),
      ...textField(2, "decoder"),
      ...this.#constants.flatMap((constant) => messageField(5, encodeEach(constant))),
      ...this.#inputs.flat(),
      ...this.#outputs.flat(),
    ];
    const opsets = Object.entries(OPSETS).flatMap(([domain, version]) =>
      messageField(8, [...textField(1, domain), ...integerField(2, version)]),
    );
    return [...integerField(1, IR_VERSION), ...textField(2, "chorus"), ...messageField(7, graph), ...opsets];
  }

  #constant(name: string, type: number, shape: readonly number[], values: Float32Array | BigInt64Array): string {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    this.#constants.push({ name, type, shape, bytes });
    return name;
  }
}

/** A TensorProto without its data. */
function describeConstant({ name, type, shape }: Constant): Encoded {
  return [...shape.flatMap((size) => integerField(1, size)), ...integerField(2, type), ...textField(8, name)];
}

function encodeConstant(constant: Constant): Encoded {
  return [...describeConstant(constant), ...messageField(9, [constant.bytes])];
}

/** Constants in files of their own, each begun when the one before is full. */
class OutsideConstants {
  readonly files = new Map<string, Uint8Array[]>();
  readonly #path: string;
  readonly #mostFileBytes: number;
  #offset = Infinity;

  constructor(path: string, mostFileBytes: number) {
    this.#path = path;
    this.#mostFileBytes = mostFileBytes;
  }

  /** @returns the TensorProto that names its place */
  add(constant: Constant): Encoded {
    const { bytes } = constant;
    if (this.#offset + bytes.length > this.#mostFileBytes) {
      const index = this.files.size;
      this.files.set(index === 0 ? this.#path : `${this.#path}_${index}`, []);
      this.#offset = 0;
    }
    const [path = "", parts = []] = [...this.files].at(-1) ?? [];
    const location = path.slice(path.lastIndexOf("/") + 1);
    const padding = (ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT;
    const place = { location, offset: String(this.#offset), length: String(bytes.length) };
    parts.push(bytes, new Uint8Array(padding));
    this.#offset += bytes.length + padding;
    const entries = Object.entries(place).flatMap(([key, value]) =>
      messageField(13, [...textField(1, key), ...textField(2, value)]),
    );
    return [...describeConstant(constant), ...entries, ...integerField(14, EXTERNAL)];
  }
}

function encodeAttribute(name: string, value: OnnxAttribute): Encoded {
  const content = [...textField(1, name)];
  if ("float" in value) content.push(...floatField(2, value.float), ...integerField(20, 1));
  else if ("int" in value) content.push(...integerField(3, value.int), ...integerField(20, 2));
  else content.push(...value.ints.flatMap((item) => integerField(8, item)), ...integerField(20, 7));
  return messageField(5, content);
}

function describeValue(field: number, name: string, type: number, axes: readonly (number | string)[]): Encoded {
  const shape = axes.flatMap((axis) =>
    messageField(1, typeof axis === "number" ? integerField(1, axis) : textField(2, axis)),
  );
  const tensor = [...integerField(1, type), ...messageField(2, shape)];
  return messageField(field, [...textField(1, name), ...messageField(2, messageField(1, tensor))]);
}
