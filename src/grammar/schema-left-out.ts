import { ChorusError } from "../protocol/errors.ts";
import type { AnswerWarning } from "../protocol/openai.ts";

interface PlacedKeyword {
  readonly node: { readonly object: Readonly<Record<string, unknown>>; readonly path: string };
  readonly keyword: string;
}

/** Says that a grammar can't hold a keyword. */
export class NotHeld extends ChorusError {
  /** What a lenient schema goes without: all values that were valid must stay valid. */
  readonly place: PlacedKeyword;

  constructor(code: "invalid_value" | "unsupported_parameter", message: string, param: string, place: PlacedKeyword) {
    super(code, message, param);
    this.place = place;
  }
}

/** Keywords that a lenient schema goes without. */
export class LeftOut {
  readonly #keywords = new Map<object, Set<string>>();
  readonly #warnings: AnswerWarning[] = [];

  get warnings(): readonly AnswerWarning[] {
    return this.#warnings;
  }

  of(schema: object): ReadonlySet<string> {
    return this.#keywords.get(schema) ?? new Set();
  }

  /** Returns whether any schema goes without one of these. */
  hasAny(keywords: readonly string[]): boolean {
    return this.#warnings.some(({ keyword }) => keywords.includes(keyword));
  }

  /** Returns false if that keyword was left out before. */
  add({ place: { node, keyword }, message }: NotHeld): boolean {
    const isNew = this.#add(node, keyword, message);
    // Without the patterns, the names that match them would be additional ones.
    const reason = `${node.path}.additionalProperties needs patternProperties, which is left out.`;
    if (isNew && keyword === "patternProperties") this.#add(node, "additionalProperties", reason);
    return isNew;
  }

  #add(node: PlacedKeyword["node"], keyword: string, message: string): boolean {
    const known = this.#keywords.get(node.object) ?? new Set();
    if (known.has(keyword) || !Object.hasOwn(node.object, keyword)) return false;
    this.#keywords.set(node.object, known.add(keyword));
    this.#warnings.push({ code: "keyword_left_out", param: `${node.path}.${keyword}`, keyword, message });
    return true;
  }
}
