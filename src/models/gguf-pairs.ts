import type { GgufFile } from "../files/gguf/gguf-file.ts";
import { invalidFile, JsonFields } from "../files/json-fields.ts";
import { readF32 } from "../files/tensor.ts";
import { ChorusError } from "../protocol/errors.ts";

/** More layers than any model here has. */
const MAX_LAYERS = 1024;

/** The pairs of a GGUF file that describe its model: "block_count" is the pair "llama.block_count" of architecture "llama". */
export class GgufPairs extends JsonFields {
  readonly architecture: string;
  readonly #gguf: GgufFile;

  /** @throws ChorusError model_invalid without an architecture */
  constructor(gguf: GgufFile) {
    const all = Object.fromEntries(gguf.pairs);
    const architecture = new JsonFields(gguf.file, all).string("general.architecture", "");
    if (architecture === "") throw invalidFile(gguf.file, `${gguf.file}: general.architecture is missing.`);
    const prefix = `${architecture}.`;
    const own = Object.entries(all).filter(([key]) => key.startsWith(prefix));
    super(gguf.file, Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value])), prefix);
    this.#gguf = gguf;
    this.architecture = architecture;
  }

  /** @throws ChorusError model_invalid if it isn't there, or isn't a positive integer */
  size(name: string): number {
    return this.positiveInteger([name], null) ?? this.#throwMissing(name);
  }

  /** @throws ChorusError model_invalid if it isn't there, or isn't a positive number */
  number(name: string): number {
    return this.positiveNumber(name, null) ?? this.#throwMissing(name);
  }

  /** Returns null if it isn't there, or isn't a list. */
  list(name: string): readonly unknown[] | null {
    const value = this.get(name);
    return Array.isArray(value) ? value : null;
  }

  hasTensor(name: string): boolean {
    return this.#gguf.has(name);
  }

  /** Returns a vector's values. @throws ChorusError model_invalid if it has another length */
  async vector(tensor: string, length: number): Promise<Float32Array> {
    const shape = this.#gguf.shape(tensor);
    if (shape.length !== 1 || shape[0] !== length) {
      const { file } = this.#gguf;
      throw invalidFile(file, `${file}: ${tensor} has shape [${shape.join(", ")}], not [${length}].`);
    }
    return readF32(this.#gguf.tensor(tensor));
  }

  /** Reads the sizes that each architecture has. @throws ChorusError model_invalid or model_unsupported, naming the pair */
  sizes() {
    const blocks = this.size("block_count");
    if (blocks > MAX_LAYERS) throw this.invalid("block_count", `is ${blocks}; no model has so many layers`);
    // Blocks after the last layer predict further tokens; they are not read.
    const layers = blocks - this.nonNegativeInteger("nextn_predict_layers", 0);
    if (layers < 1) throw this.invalid("block_count", `(${blocks}) must be more than nextn_predict_layers`);
    if (!this.boolean("attention.causal", true)) throw this.unsupported("attention.causal", "an encoder");
    const heads = this.size("attention.head_count");
    const kvHeads = this.#kvHeads() ?? heads;
    if (heads % kvHeads !== 0)
      throw this.invalid("attention.head_count", `(${heads}) is no multiple of attention.head_count_kv (${kvHeads})`);
    if (this.nonNegativeInteger("expert_count", 0) > 1) throw this.unsupported("expert_count", "a mixture of experts");
    const vocabulary = this.#gguf.shape("token_embd.weight")[0] ?? 0;
    return {
      layers,
      heads,
      kvHeads,
      width: this.size("embedding_length"),
      inner: this.size("feed_forward_length"),
      context: this.size("context_length"),
      vocabulary,
      tied: !this.hasTensor("output.weight"),
    };
  }

  /** Some files have a number for each layer: 0 where there is no attention. */
  #kvHeads(): number | null {
    const name = "attention.head_count_kv";
    const counts = this.list(name);
    if (counts === null) return this.positiveInteger([name], null);
    const [count, ...others] = new Set(counts.filter((one) => one !== 0));
    if (others.length > 0) throw this.unsupported(name, "layers with different numbers of heads");
    return typeof count === "number" && count > 0 ? count : this.#throwMissing(name);
  }

  invalid(name: string, what: string): ChorusError {
    const { file } = this.#gguf;
    return invalidFile(file, `${file}: ${this.architecture}.${name} ${what}.`);
  }

  unsupported(name: string, what: string): ChorusError {
    const { file } = this.#gguf;
    return new ChorusError(
      "model_unsupported",
      `${file}: ${this.architecture}.${name} asks for ${what}, which is not supported.`,
      file,
    );
  }

  #throwMissing(name: string): never {
    throw this.invalid(name, "is missing");
  }
}
