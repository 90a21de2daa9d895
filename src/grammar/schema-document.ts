import { isObject } from "../protocol/json-object.ts";
import { percentDecoded } from "../protocol/percent-decoded.ts";
import type { NotHeld } from "./schema-left-out.ts";
import { SchemaNode, type PlacedSchema } from "./schema-node.ts";

/** Keywords whose values are no schemas, but data. */
const DATA = ["enum", "const", "default", "example", "examples"];
/** Keywords whose values are schemas by name. */
const BY_NAME = ["properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"];
/** The first and the last draft of keywords that not all drafts have. Without a declared draft they all count. */
const DRAFTS: Readonly<Record<string, readonly [first: number, last: number]>> = {
  const: [6, Infinity],
  contains: [6, Infinity],
  propertyNames: [6, Infinity],
  if: [7, Infinity],
  dependencies: [0, 7],
  dependentRequired: [2019, Infinity],
  dependentSchemas: [2019, Infinity],
  minContains: [2019, Infinity],
  maxContains: [2019, Infinity],
  unevaluatedItems: [2019, Infinity],
  unevaluatedProperties: [2019, Infinity],
  $recursiveRef: [2019, 2019],
  additionalItems: [0, 2019],
  prefixItems: [2020, Infinity],
  $dynamicRef: [2020, Infinity],
};
const NO_ADDRESS = "chorus://schema/";
/** Stands for schemas that have the same address. */
const SEVERAL = Symbol();

/** A schema with all that its references may point to. */
export class SchemaDocument {
  /** Whether keywords beside $ref are ignored, as up to draft 7. */
  readonly refersAlone: boolean;
  /** Keywords of other drafts than the declared one. */
  readonly #othersKeywords: ReadonlySet<string>;
  readonly #document: unknown;
  readonly #param: string;
  readonly #idKeyword: string;
  /** By schema, also of those that were made for a keyword in the document. */
  readonly #nodes = new Map<object, SchemaNode>();
  /** Schemas with an address of their own, without "#" or with "#anchor". */
  readonly #addressed = new Map<string, unknown>();
  /** How many schemas have an anchor for dynamic references; "": $recursiveAnchor. */
  readonly #dynamic = new Map<string, number>();

  constructor(document: unknown, param: string) {
    this.#document = document;
    this.#param = param;
    const declared = isObject(document) ? String(document["$schema"]) : "";
    const draft = Number(/json-schema\.org\/draft[-/]0?(\d+)/.exec(declared)?.[1]); // NaN if none is declared
    const others = Object.entries(DRAFTS).filter(([, [first, last]]) => draft < first || draft > last);
    this.#othersKeywords = new Set(others.map(([keyword]) => keyword));
    this.refersAlone = draft <= 7;
    this.#idKeyword = draft < 6 ? "id" : "$id";
    this.#addressed.set(NO_ADDRESS, document);
    this.#walk(document, NO_ADDRESS, param, true);
  }

  /** Returns the schema as a node, always the same one. @throws ChorusError invalid_type */
  nodeOf({ schema, path }: PlacedSchema): SchemaNode {
    // A reference may lead into data.
    return this.#nodes.get(schema as object) ?? this.#added(schema, path, NO_ADDRESS);
  }

  #added(schema: unknown, path: string, base: string, madeFor?: NotHeld["place"]): SchemaNode {
    const unread = madeFor ? new Set<string>() : this.#othersKeywords;
    const node = new SchemaNode(schema, path, this.#nodes.size, base, unread, madeFor);
    this.#nodes.set(node.object, node);
    return node;
  }

  /** Places a schema that was made from another where that one stands. */
  adopt<T extends object>(made: T, from: SchemaNode, madeFor: NotHeld["place"]): T {
    this.#walk(made, from.base, from.path, true, madeFor);
    return made;
  }

  /** @throws ChorusError invalid_value @throws NotHeld if what it means depends on the references before it */
  referred(node: SchemaNode, keyword = "$ref"): PlacedSchema {
    const reference = node.get(keyword);
    const address = typeof reference === "string" ? addressOf(reference, node.base) : undefined;
    if (address === undefined) throw node.invalid('a place in this schema, such as "#/$defs/name"', keyword);
    const [resource = "", fragment = ""] = address.split("#");
    if (this.#addressed.get(resource) === SEVERAL) throw node.invalid("the address of one schema", keyword);
    if (keyword !== "$ref" && (this.#dynamic.get(fragment) ?? 0) > 1)
      throw node.unsupported(keyword, "several schemas have its anchor; use $ref");
    if (fragment !== "" && !fragment.startsWith("/")) {
      const schema = this.#addressed.get(`${resource}#${percentDecoded(fragment) ?? fragment}`);
      if (schema === undefined || schema === SEVERAL) throw node.invalid("one place that is there", keyword);
      return { schema, path: `${this.#param}.${fragment}` };
    }
    const steps = fragment.split("/").slice(1);
    const within = this.#addressed.has(resource) ? stepped(this.#addressed.get(resource), steps) : undefined;
    // Many schemas mean their whole document, whatever address stands between.
    const isLocal = typeof reference === "string" && reference.startsWith("#");
    const schema = within ?? (isLocal ? stepped(this.#document, steps) : undefined);
    if (schema !== undefined) return { schema, path: `${this.#param}${fragment.replaceAll("/", ".")}` };
    const isKnown = this.#addressed.has(resource) || isLocal;
    throw node.invalid(isKnown ? "a place that is there" : "a place in this schema", keyword);
  }

  /** @param madeFor of what isn't in the document: its parts stand where it does */
  #walk(value: unknown, base: string, path: string, isSchema: boolean, madeFor?: NotHeld["place"]): void {
    const pathOf = (step: string) => (madeFor ? path : `${path}${step}`);
    if (Array.isArray(value)) value.forEach((one, i) => this.#walk(one, base, pathOf(`[${i}]`), isSchema, madeFor));
    if (!isObject(value) || this.#nodes.has(value)) return;
    const own = isSchema ? this.#ownAddress(value, base) : base;
    if (isSchema) this.#added(value, path, own, madeFor);
    for (const [key, one] of Object.entries(value)) {
      if (!isSchema || !DATA.includes(key))
        this.#walk(one, own, pathOf(`.${key}`), !isSchema || !BY_NAME.includes(key), madeFor);
    }
  }

  #ownAddress(schema: Record<string, unknown>, base: string): string {
    const id = schema[this.#idKeyword];
    const isIgnored = typeof id !== "string" || (this.refersAlone && "$ref" in schema);
    const [own = base, anchor = ""] = (isIgnored ? undefined : addressOf(id, base))?.split("#") ?? [];
    const dynamic = schema["$recursiveAnchor"] === true ? "" : schema["$dynamicAnchor"];
    if (typeof dynamic === "string") this.#dynamic.set(dynamic, (this.#dynamic.get(dynamic) ?? 0) + 1);
    const anchors = [anchor, schema["$anchor"], schema["$dynamicAnchor"]].filter((name) => typeof name === "string");
    const addresses = anchors.filter((name) => name !== "").map((name) => `${own}#${name}`);
    for (const address of new Set(own === base ? addresses : [own, ...addresses])) {
      this.#addressed.set(address, this.#addressed.has(address) ? SEVERAL : schema);
    }
    return own;
  }
}

function addressOf(reference: string, base: string): string | undefined {
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
}

function stepped(place: unknown, steps: readonly string[]): unknown {
  for (const step of steps) {
    const name = percentDecoded(step)?.replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = name !== undefined && typeof place === "object" && place !== null && Object.hasOwn(place, name);
    if (!isThere) return undefined;
    place = (place as Record<string, unknown>)[name];
  }
  return place;
}
