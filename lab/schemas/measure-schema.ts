// MaskBench's method (guidance-ai/jsonschemabench): an engine passes a schema if it compiles it, allows each token of the valid
// instances, and forbids a token of each invalid one.

import { compile } from "../../src/grammar/compile.ts";
import { jsonText } from "../../src/grammar/json-text.ts";
import type { Machine } from "../../src/grammar/machine.ts";
import { MachineMatcher } from "../../src/grammar/machine-matcher.ts";
import { TokenTrie } from "../../src/grammar/token-trie.ts";
import { ChorusError } from "../../src/protocol/errors.ts";

export interface SchemaCase {
  readonly name: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly valid: boolean; readonly data: unknown }[];
}

export interface SchemaResult {
  /** Why the schema was refused; null if it was compiled. */
  readonly refused: string | null;
  /** Valid instances that the masks forbid, as far as they go. */
  readonly rejected: readonly string[];
  /** Invalid instances that the masks allow. */
  readonly accepted: readonly string[];
  /** From the schema to its first mask. */
  readonly firstMaskMs: number;
  readonly maskMs: readonly number[];
}

/** A vocabulary, and the tokens that texts are cut into: the longest that fit. The last token ends a text. */
export class SchemaMeter {
  readonly #trie: TokenTrie;
  readonly #ids = new Map<string, number>();
  readonly #longest: number;
  readonly #end: number;

  /** @param tokens a character for each byte */
  constructor(tokens: readonly string[]) {
    this.#end = tokens.length;
    tokens.forEach((token, id) => token !== "" && this.#ids.set(token, id));
    this.#longest = tokens.reduce((most, { length }) => Math.max(most, length), 0);
    this.#trie = new TokenTrie([...tokens, ""], tokens.length + 1);
  }

  async measure({ schema, tests }: SchemaCase): Promise<SchemaResult> {
    const source = { kind: "schema", schema, param: "schema" } as const;
    const began = performance.now();
    let machine: Machine;
    try {
      ({ machine } = compile(source));
      const matcher = new MachineMatcher(machine, this.#trie, [this.#end]);
      if (!matcher.makeMask()) throw new ChorusError("invalid_value", "schema allows no text of these tokens.");
    } catch (error) {
      const reason = error instanceof ChorusError ? error.message : `CRASH ${(error as Error).stack}`;
      return { refused: reason, rejected: [], accepted: [], firstMaskMs: 0, maskMs: [] };
    }
    const firstMaskMs = performance.now() - began;
    const maskMs: number[] = [];
    const rejected: string[] = [];
    const accepted: string[] = [];
    for (const { valid, data } of tests) {
      const text = jsonText(data);
      const matcher = new MachineMatcher(machine, this.#trie, [this.#end]);
      let read = "";
      let isAllowed = true;
      for (const [id, token] of this.#tokensOf(text)) {
        const from = performance.now();
        matcher.makeMask();
        maskMs.push(performance.now() - from);
        isAllowed = (((matcher.mask[id >>> 5] ?? 0) >>> (id & 31)) & 1) === 1 && matcher.accept(id);
        if (!isAllowed) break;
        read += token;
      }
      if (valid && !isAllowed)
        rejected.push(
          `${text.slice(Math.max(0, read.length - 60), read.length)} >>> ${text.slice(read.length, read.length + 60)}`,
        );
      if (!valid && isAllowed) accepted.push(text.slice(0, 400));
    }
    return { refused: null, rejected, accepted, firstMaskMs, maskMs };
  }

  /** Returns a text's tokens and the one that ends it. */
  *#tokensOf(text: string): Generator<readonly [id: number, token: string]> {
    const bytes = String.fromCharCode(...new TextEncoder().encode(text));
    for (let at = 0; at < bytes.length;) {
      let length = Math.min(this.#longest, bytes.length - at);
      while (length > 1 && !this.#ids.has(bytes.slice(at, at + length))) length -= 1;
      const token = bytes.slice(at, at + length);
      yield [this.#ids.get(token) ?? this.#end, token];
      at += length;
    }
    yield [this.#end, ""];
  }
}
