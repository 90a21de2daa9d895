import { ByteBuffer } from "./byte-buffer.ts";
import { FunctionBuilder, type FunctionReference, type ParameterLocals } from "./function-builder.ts";
import { parseSignature } from "./signature.ts";
import { TYPE_CODE, type ValueType } from "./value.ts";

/** The memory that a module imports as "env.memory". It must be made with the same sizes. */
export interface MemoryLimits {
  readonly isShared: boolean;
  /** Number of pages of 64 KiB. */
  readonly pages: number;
}

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const SECTION = { types: 1, imports: 2, functions: 3, exports: 7, code: 10 };
const FUNCTION_TYPE = 0x60;
const MEMORY = 0x02;
const FUNCTION = 0x00;
/** Flags of limits: with a maximum, and shared. */
const WITH_MAXIMUM = 0x01;
const SHARED = 0x03;

interface Defined {
  readonly name: string;
  readonly parameters: readonly ValueType[];
  readonly result: ValueType | null;
  readonly body: ByteBuffer;
}

/** Assembles a WebAssembly module of functions over one imported memory. Every function is exported by its name. */
export class ModuleBuilder {
  readonly #memory: MemoryLimits;
  readonly #functions: Defined[] = [];

  constructor(memory: MemoryLimits) {
    this.#memory = memory;
  }

  /** Defines a function; those that it calls must come before it. One with a result ends in a return. */
  function<Signature extends string>(
    name: string,
    signature: Signature,
    body: (f: FunctionBuilder, locals: ParameterLocals<Signature>) => void,
  ): FunctionReference<Signature> {
    const { parameters, result } = parseSignature(signature);
    const types = Object.values(parameters);
    const f = new FunctionBuilder(types.length);
    const locals = Object.entries(parameters).map(([parameter, type], i) => [parameter, f.parameter(i, type)]);
    body(f, Object.fromEntries(locals) as ParameterLocals<Signature>);
    // A function with a result returns before its end, which no code reaches.
    if (result !== null) f.unreachable();
    this.#functions.push({ name, parameters: types, result, body: f.finish() });
    return { signature, index: this.#functions.length - 1 };
  }

  finish(): Uint8Array<ArrayBuffer> {
    const out = new ByteBuffer();
    const count = this.#functions.length;
    out.bytes(HEADER);
    section(out, SECTION.types, count, (types, i) => {
      const { parameters = [], result = null } = this.#functions[i] ?? {};
      types.byte(FUNCTION_TYPE);
      types.unsigned(parameters.length);
      for (const type of parameters) types.byte(TYPE_CODE[type]);
      types.unsigned(result === null ? 0 : 1);
      if (result !== null) types.byte(TYPE_CODE[result]);
    });
    section(out, SECTION.imports, 1, (imports) => {
      const { isShared, pages } = this.#memory;
      imports.text("env");
      imports.text("memory");
      imports.byte(MEMORY);
      imports.byte(isShared ? SHARED : WITH_MAXIMUM);
      imports.unsigned(pages);
      imports.unsigned(pages);
    });
    section(out, SECTION.functions, count, (functions, i) => functions.unsigned(i));
    section(out, SECTION.exports, count, (exports, i) => {
      exports.text(this.#functions[i]?.name ?? "");
      exports.byte(FUNCTION);
      exports.unsigned(i);
    });
    section(out, SECTION.code, count, (code, i) => code.sized(this.#functions[i]?.body ?? new ByteBuffer()));
    return out.finish();
  }
}

function section(out: ByteBuffer, id: number, count: number, write: (to: ByteBuffer, i: number) => void): void {
  const contents = new ByteBuffer();
  contents.unsigned(count);
  for (let i = 0; i < count; i++) write(contents, i);
  out.byte(id);
  out.sized(contents);
}
