// The fields of TypeScript's interfaces, and of the tables that types are made of, with their docstrings, read from the text: what
// an editor shows beside a name.

import { parseSync, type ESTree } from "vite";

interface Field {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
  readonly words: string;
  /** The end of its docstring in brackets: the default, a semicolon, the unit. */
  readonly defaultText: string | null;
  readonly unit: string | null;
}

export interface Types {
  /** The fields of each interface, without those that it has from others. */
  readonly interfaces: ReadonlyMap<string, readonly Field[]>;
  /** The fields of each table that types are made of. */
  readonly tables: ReadonlyMap<string, readonly Field[]>;
  /** The meaning of each `type Name = ...`; the members of a list of choices. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** The units of numbers. */
const UNITS: readonly string[] =
  "tokens,token ids,rows,sequences,steps,blocks,bytes,threads,answers,beams,ms,probability,fraction,ratio,logits,exponent,integer".split(
    ",",
  );

export function readTypes(sources: readonly string[]): Types {
  const interfaces = new Map<string, readonly Field[]>();
  const aliases = new Map<string, string>();
  const tables = new Map<string, readonly Field[]>();
  for (const source of sources) {
    const { program, comments } = parseSync("types.ts", source);
    const textOf = ({ start, end }: { start: number; end: number }) => source.slice(start, end);
    const docBefore = (start: number) => {
      const comment = comments.findLast((one) => one.end <= start);
      const isDoc = comment?.value.startsWith("*") === true && source.slice(comment.end, start).trim() === "";
      return isDoc ? comment.value : "";
    };
    for (const statement of program.body) {
      const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
      const fieldOf = ({ key, start }: FieldNode, type: string, isOptional: boolean): Field[] => {
        const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : null;
        return name === null ? [] : [{ name, type, isOptional, ...readDocstring(docBefore(start)) }];
      };
      if (declared?.type === "TSInterfaceDeclaration") {
        const fields = declared.body.body.flatMap((member) =>
          member.type === "TSPropertySignature" && member.typeAnnotation
            ? fieldOf(member, textOf(member.typeAnnotation.typeAnnotation), member.optional)
            : [],
        );
        const table = /^GivenFields<typeof (\w+)/.exec(declared.extends.map(textOf).join(", "))?.[1] ?? "";
        interfaces.set(declared.id.name, [...fields, ...(tables.get(table) ?? [])]);
      }
      if (declared?.type === "VariableDeclaration" && declared.declarations[0]?.init) {
        const { id, init } = declared.declarations[0];
        const table = withoutAssertions(init);
        const properties = table.type === "ObjectExpression" ? table.properties : [];
        const fields = properties.flatMap((property) =>
          property.type === "Property"
            ? fieldOf(property, typeOfEntry(textOf(property.value), interfaces, source), true)
            : [],
        );
        tables.set(textOf(id), fields);
      }
      if (declared?.type === "TSTypeAliasDeclaration") {
        const members = choicesOf(declared.id.name, textOf(declared.typeAnnotation), source);
        aliases.set(declared.id.name, members);
      }
    }
  }
  return { interfaces, tables, aliases };
}

type FieldNode = Pick<ESTree.ObjectProperty, "key" | "start">;

/** `{ ... } as const satisfies Type` is the object. */
function withoutAssertions(value: ESTree.Expression): ESTree.Expression {
  const isAsserted = value.type === "TSAsExpression" || value.type === "TSSatisfiesExpression";
  return isAsserted ? withoutAssertions(value.expression) : value;
}

/** An entry `{ kind: "integer", ... }` has the type that the interface Values names; a choice is of a list. */
function typeOfEntry(entry: string, interfaces: Types["interfaces"], source: string): string {
  const list = /choices: (\w+)/.exec(entry)?.[1];
  if (list !== undefined) return choicesOf(list, `(typeof ${list})[number]`, source);
  const kind = /kind: "(\w+)"/.exec(entry)?.[1];
  return interfaces.get("Values")?.find(({ name }) => name === kind)?.type ?? "";
}

/** `(typeof NAMES)[number]` is one of the strings that NAMES lists. */
function choicesOf(name: string, type: string, source: string): string {
  const list = /^\(typeof (\w+)\)\[number\]$/.exec(type)?.[1];
  if (list === undefined) return type;
  const members = new RegExp(`const ${list} = \\[([^\\]]*)\\]`).exec(source)?.[1];
  if (members === undefined) throw new Error(`${name} is made of ${list}, which is not a list in the same file.`);
  return members
    .split(",")
    .map((member) => member.trim())
    .filter(Boolean)
    .join(" | ");
}

function readDocstring(comment: string): Pick<Field, "words" | "defaultText" | "unit"> {
  const text = comment
    .replaceAll(/^\s*\*+ ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  const [, words = text, brackets = null] = /^(.*?)\s*\[([^[\]]*)\]$/.exec(text) ?? [];
  const [, defaultText = brackets, unit = null] = /^(.*?); ([^;]+)$/.exec(brackets ?? "") ?? [];
  return unit !== null && UNITS.includes(unit)
    ? { words, defaultText: defaultText || null, unit }
    : { words, defaultText: brackets, unit: null };
}
