import { ByteBuffer } from "./byte-buffer.ts";
import { i32 } from "./instructions.ts";
import { parseSignature, type ParametersOf } from "./signature.ts";
import { toF32, toF32x4, toI32, TYPE_CODE, Value, type F32, type F32x4, type I32, type ValueType } from "./value.ts";

/** A function's arguments, by the names of its parameters. */
type Arguments<S extends string> = { readonly [Name in keyof ParametersOf<S>]: Operand<TypeOf<ParametersOf<S>[Name]>> };
/** A function's parameters in its body: locals that begin with the arguments. */
export type ParameterLocals<S extends string> = {
  readonly [Name in keyof ParametersOf<S>]: Local<TypeOf<ParametersOf<S>[Name]>>;
};
type TypeOf<T> = T extends ValueType ? T : never;

type Operand<T extends ValueType> = T extends "i32" ? I32 : T extends "f32" ? F32 : T extends "v128" ? F32x4 : Value<T>;

/** A function of the module that others can call. */
export interface FunctionReference<Signature extends string> {
  readonly signature: Signature;
  readonly index: number;
}

const UNREACHABLE = 0x00;
const BLOCK = 0x02;
const LOOP = 0x03;
const IF = 0x04;
const ELSE = 0x05;
const END = 0x0b;
const BR = 0x0c;
const BR_IF = 0x0d;
const RETURN = 0x0f;
const CALL = 0x10;
const DROP = 0x1a;
const LOCAL_GET = 0x20;
const LOCAL_SET = 0x21;
const NO_RESULT = 0x40;
const UNALIGNED = 0;
const STORE_CODE = { i32: [0x36], f32: [0x38], v128: [0xfd, 11] } as const;
const STORE_16 = 0x3b;

/** A variable of a function. */
export class Local<T extends ValueType> extends Value<T> {
  readonly #set: (value: Operand<T>) => void;

  constructor(type: T, emit: (out: ByteBuffer) => void, set: (value: Operand<T>) => void) {
    super(type, emit);
    this.#set = set;
  }

  set(value: Operand<T>): void {
    this.#set(value);
  }
}

/** Writes the code of one function, one statement per call. */
export class FunctionBuilder {
  readonly #code = new ByteBuffer();
  readonly #locals: ValueType[] = [];
  readonly #numParameters: number;

  constructor(numParameters: number) {
    this.#numParameters = numParameters;
  }

  i32(initial?: I32): Local<"i32"> {
    return this.#newLocal("i32", initial);
  }

  f32(initial?: F32): Local<"f32"> {
    return this.#newLocal("f32", initial);
  }

  v128(initial?: F32x4): Local<"v128"> {
    return this.#newLocal("v128", initial);
  }

  /** Declares several vectors without a first value. */
  vectors(count: number): Local<"v128">[] {
    return Array.from({ length: count }, () => this.v128());
  }

  parameter<T extends ValueType>(index: number, type: T): Local<T> {
    return this.#localAt(index, type);
  }

  /** local += value */
  increment(local: Local<"i32">, value: I32): void {
    local.set(i32.add(local, value));
  }

  storeI32(address: I32, value: I32, offset = 0): void {
    this.#store(STORE_CODE.i32, address, toI32(value), offset);
  }

  storeF32(address: I32, value: F32, offset = 0): void {
    this.#store(STORE_CODE.f32, address, toF32(value), offset);
  }

  storeV128(address: I32, value: F32x4, offset = 0): void {
    this.#store(STORE_CODE.v128, address, toF32x4(value), offset);
  }

  storeI16(address: I32, value: I32, offset = 0): void {
    this.#store([STORE_16], address, toI32(value), offset);
  }

  if(condition: I32, then: () => void, otherwise?: () => void): void {
    toI32(condition).emit(this.#code);
    this.#code.bytes([IF, NO_RESULT]);
    then();
    if (otherwise) {
      this.#code.byte(ELSE);
      otherwise();
    }
    this.#code.byte(END);
  }

  while(condition: Value<"i32">, body: () => void): void {
    this.#code.bytes([BLOCK, NO_RESULT, LOOP, NO_RESULT]);
    i32.eqz(condition).emit(this.#code);
    this.#code.bytes([BR_IF, 1]);
    body();
    this.#code.bytes([BR, 0, END, END]);
  }

  /** Runs the body at least once. */
  doWhile(body: () => void, condition: Value<"i32">): void {
    this.#code.bytes([LOOP, NO_RESULT]);
    body();
    condition.emit(this.#code);
    this.#code.bytes([BR_IF, 0, END]);
  }

  /** for (i = from; i < to; i += step), unsigned. `to` is evaluated once. */
  for(from: I32, to: I32, step: number, body: (i: Local<"i32">) => void): void {
    const i = this.i32(from);
    const end = typeof to === "number" ? to : this.i32(to);
    const isBefore = i32.ltU(i, end);
    this.if(isBefore, () => {
      this.doWhile(() => {
        body(i);
        this.increment(i, step);
      }, isBefore);
    });
  }

  /** Calls a function without a result. */
  call<S extends string>({ index, signature }: FunctionReference<S>, args: Arguments<S>): void {
    const { parameters } = parseSignature(signature);
    const given = args as Readonly<Record<string, Operand<ValueType>>>;
    for (const [name, type] of Object.entries(parameters)) toValue(type, given[name]).emit(this.#code);
    this.#code.byte(CALL);
    this.#code.unsigned(index);
  }

  /** Evaluates an expression for its effect. */
  drop(value: Value<ValueType>): void {
    value.emit(this.#code);
    this.#code.byte(DROP);
  }

  return(value?: Value<ValueType>): void {
    value?.emit(this.#code);
    this.#code.byte(RETURN);
  }

  /** Traps. */
  unreachable(): void {
    this.#code.byte(UNREACHABLE);
  }

  /** Returns the locals and code as a module contains them. */
  finish(): ByteBuffer {
    const body = new ByteBuffer();
    const runs: { type: ValueType; count: number }[] = [];
    for (const type of this.#locals) {
      const last = runs.at(-1);
      if (last?.type === type) last.count++;
      else runs.push({ type, count: 1 });
    }
    body.unsigned(runs.length);
    for (const { type, count } of runs) {
      body.unsigned(count);
      body.byte(TYPE_CODE[type]);
    }
    this.#code.byte(END);
    body.bytes(this.#code.finish());
    return body;
  }

  #newLocal<T extends ValueType>(type: T, initial: Operand<T> | undefined): Local<T> {
    const local = this.#localAt(this.#numParameters + this.#locals.length, type);
    this.#locals.push(type);
    if (initial !== undefined) local.set(initial);
    return local;
  }

  #localAt<T extends ValueType>(index: number, type: T): Local<T> {
    const emit = (out: ByteBuffer) => {
      out.byte(LOCAL_GET);
      out.unsigned(index);
    };
    return new Local(type, emit, (value) => {
      toValue(type, value).emit(this.#code);
      this.#code.byte(LOCAL_SET);
      this.#code.unsigned(index);
    });
  }

  #store(code: readonly number[], address: I32, value: Value<ValueType>, offset: number): void {
    toI32(address).emit(this.#code);
    value.emit(this.#code);
    this.#code.bytes(code);
    this.#code.byte(UNALIGNED);
    this.#code.unsigned(offset);
  }
}

function toValue(type: ValueType, value: Value<ValueType> | number | undefined): Value<ValueType> {
  if (value === undefined) throw new Error("an argument is missing");
  if (typeof value !== "number") return value;
  if (type === "i32") return toI32(value);
  return type === "f32" ? toF32(value) : toF32x4(value);
}
