/** A record's fields in their order, a word each. */
type Fields = readonly (readonly [name: string, type: "u32" | "f32"])[];

/** A window on a memory of records, which reads and writes the one at word `at`. */
type RecordView<F extends Fields> = { at: number } & Record<F[number][0], number>;

/** Returns a class of views. A property of its prototype costs no more than an index that is written out. */
export function recordViews<const F extends Fields>(fields: F): new (buffer: ArrayBufferLike) => RecordView<F> {
  class View {
    at = 0;
    readonly u32: Uint32Array;
    readonly f32: Float32Array;

    constructor(buffer: ArrayBufferLike) {
      this.u32 = new Uint32Array(buffer);
      this.f32 = new Float32Array(buffer);
    }
  }
  fields.forEach(([name, type], i) => {
    Object.defineProperty(View.prototype, name, {
      get(this: View) {
        return this[type][this.at + i];
      },
      set(this: View, value: number) {
        this[type][this.at + i] = value;
      },
    });
  });
  return View as unknown as new (buffer: ArrayBufferLike) => RecordView<F>;
}
