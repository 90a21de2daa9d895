// Builds an ONNX model node by node. The numbers are those of onnx.proto.

import { floatField, integerField, messageField, textField, type Encoded } from "./protobuf.ts";

/** Elements' types. */
const FLOAT = 1;
const INT64 = 7;
/** For Cast's `to`. */
export const INT32 = 6;
export const BOOL = 9;

const TYPES = { float: FLOAT, int64: INT64 } as const;

type OnnxAttribute = { readonly int: number } | { readonly ints: readonly number[] } | { readonly float: number };

interface NodeOptions {
  /** Names of what it puts out; "" for what is not wanted. [one, made up] */
  readonly outputs?: readonly string[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  /** The operator set it is from. [ONNX's own] */
  readonly domain?: string;
}

/** Opsets: ONNX's own, and onnxruntime's. */
const OPSETS = { "": 17, "com.microsoft": 1 };
const IR_VERSION = 8;

export class OnnxGraph {
  readonly #nodes: Encoded[] = [];
  readonly #constants: Encoded[] = [];
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

  /** The parts of a file, in order. */
  encode(): Encoded {
    const graph = [
      ...this.#nodes.flat(),
      ...textField(2, "decoder"),
      ...this.#constants.flat(),
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
    this.#constants.push(
      messageField(5, [
        ...shape.flatMap((size) => integerField(1, size)),
        ...integerField(2, type),
        ...textField(8, name),
        ...messageField(9, [bytes]),
      ]),
    );
    return name;
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
