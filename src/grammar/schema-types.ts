import { isObject } from "../protocol/json-object.ts";
import { NOT_ENUM, type SchemaNode } from "./schema-node.ts";

export const TYPES = ["object", "array", "string", "integer", "number", "boolean", "null"] as const;
export type TypeName = (typeof TYPES)[number];

/** Returns the types that all of these schemas allow; "number" stands for integers, too. @throws ChorusError invalid_value */
export function typesOf(nodes: readonly SchemaNode[]): readonly TypeName[] {
  let types: readonly TypeName[] = TYPES.filter((type) => type !== "integer");
  for (const node of nodes) {
    const given = givenTypes(node);
    if (given === undefined) continue;
    const isNumber = given.includes("number");
    types = types.flatMap((type) => {
      if (given.includes(type) || (type === "integer" && isNumber)) return [type];
      return type === "number" && given.includes("integer") ? ["integer" as const] : [];
    });
  }
  return types;
}

export function givenTypes(node: SchemaNode): TypeName[] | undefined {
  const value = node.get("type");
  if (value === undefined) return undefined;
  return (Array.isArray(value) ? value : [value]).map((name) => {
    const found = TYPES.find((type) => type === name);
    if (found === undefined) throw node.invalid(`one of ${TYPES.join(", ")}`, "type");
    return found;
  });
}

export function isOfType(value: unknown, type: TypeName): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "null") return value === null;
  if (type === "object") return isObject(value);
  return typeof value === type;
}

/** Returns the values that const and enum leave, without those of NOT_ENUM; undefined without const and enum. */
export function literalsOf(nodes: readonly SchemaNode[]): unknown[] | undefined {
  const types = typesOf(nodes);
  const lists = nodes.flatMap((node) => [
    ...(node.has("const") ? [[node.get("const")]] : []),
    ...(node.has("enum") ? [node.list("enum")] : []),
  ]);
  const texts = lists.map((list) => new Set(list.map(canonical)));
  const values = lists[0]?.filter((value) => texts.every((all) => all.has(canonical(value))));
  const others = new Set(excludedLiterals(nodes).map(canonical));
  return values?.filter((value) => types.some((type) => isOfType(value, type)) && !others.has(canonical(value)));
}

export function excludedLiterals(nodes: readonly SchemaNode[]): unknown[] {
  return nodes.flatMap((node) => (node.has(NOT_ENUM) ? node.list(NOT_ENUM) : []));
}

/** Returns a text that equal values share. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    isObject(one) ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}
