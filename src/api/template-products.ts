// Some of Jinja's filters and methods make a text whose length is a product: of a list's and a separator's, of a text's and
// what replaces its parts, of lines and their indentation. Such a text could fill the memory before anyone sees how long it
// is. So what goes in is multiplied first.

import type { Interpreter } from "@huggingface/jinja";

type Evaluate = Interpreter["evaluate"];
type TemplateNode = NonNullable<Parameters<Evaluate>[0]>;
type TemplateValue = ReturnType<Evaluate>;

/** Longest text that may come of it, in characters. */
const MAX_PRODUCT = 2 ** 26;

const MULTIPLYING_FILTERS = ["indent", "join", "replace", "tojson"];
/** Their arguments are numbers of spaces. */
const INDENTING_FILTERS = ["indent", "tojson"];
const MULTIPLYING_METHODS: readonly unknown[] = ["join", "replace"];

/** The fields of Jinja's nodes that matter here. */
interface Node extends TemplateNode {
  readonly value?: unknown;
  readonly callee?: Node;
  readonly filter?: Node;
  readonly operand?: Node;
  readonly body?: readonly Node[];
  readonly object?: Node;
  readonly property?: Node;
  readonly computed?: boolean;
}

/** A filter or method whose parts are being evaluated. */
export class Product {
  readonly #node: Node;
  readonly #countsSpaces: boolean;
  #appliedTo = 0;
  #factor = 1;

  constructor(node: Node, countsSpaces: boolean) {
    this.#node = node;
    this.#countsSpaces = countsSpaces;
  }

  calls(node: TemplateNode): boolean {
    return this.#node.callee === node;
  }

  /** Takes a part that was evaluated. @throws Error if the whole may become too long a text */
  take(part: TemplateNode, value: TemplateValue, length: number): void {
    const { operand, body, callee } = this.#node;
    const content: unknown = value.value;
    // By a computed name a template may also take a macro out of a list.
    if (part === callee?.object && typeof content !== "string") return;
    if (part === operand || part === callee?.object || body?.some((each) => each === part)) this.#appliedTo += length;
    else if (this.#countsSpaces && typeof content === "number") this.#factor *= Math.max(1, content);
    else this.#factor *= Math.max(1, length);
    if (this.#appliedTo * this.#factor > MAX_PRODUCT) throw new Error("it may make too long a text");
  }
}

/** Returns the product that a node's parts belong to; null: its length is none. @param outer that of the node around it */
export function productOf(node: TemplateNode | undefined, outer: Product | null): Product | null {
  if (node === undefined) return null;
  if (outer?.calls(node)) return outer;
  const { filter, callee } = node as Node;
  if (filter !== undefined) {
    const name = String((filter.callee ?? filter).value);
    return MULTIPLYING_FILTERS.includes(name) ? new Product(node, INDENTING_FILTERS.includes(name)) : null;
  }
  return callee !== undefined && mayMultiply(callee) ? new Product(node, false) : null;
}

/**
 * Returns the text, as a node, whose method may have been taken out of it: it would be called where nothing is known of the
 * text. Null: this is no such method.
 */
export function looseMethodOf(node: TemplateNode, value: TemplateValue, outer: Product | null): TemplateNode | null {
  if (value.type !== "FunctionValue" || outer?.calls(node) || !mayMultiply(node)) return null;
  return (node as Node).object ?? null;
}

function mayMultiply({ object, property, computed }: Node): boolean {
  return object !== undefined && (computed === true || MULTIPLYING_METHODS.includes(property?.value));
}
