// The fields of TypeScript's interfaces with their docstrings, read from the text: what an editor shows beside a name.

import { parseSync } from "vite";

/** One field of an interface. */
export interface Field {
  readonly name: string;
  /** As it is written. */
  readonly type: string;
  readonly isOptional: boolean;
  /** What it does. */
  readonly words: string;
  /** What its docstring has in brackets at its end: the default, a semicolon, the unit. */
  readonly defaultText: string | null;
  readonly unit: string | null;
}

export interface Types {
  /** The fields of each interface, without those that it has from others. */
  readonly interfaces: ReadonlyMap<string, readonly Field[]>;
  /** What each `type Name = ...` stands for; of a list of choices its members. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** What numbers can count or measure. */
const UNITS: readonly string[] =
  "tokens,token ids,rows,sequences,steps,blocks,bytes,threads,answers,beams,ms,probability,fraction,ratio,logits,exponent,integer".split(
    ",",
  );

/** Reads all interfaces and aliases of some sources. */
export function readTypes(sources: readonly string[]): Types {
  const interfaces = new Map<string, readonly Field[]>();
  const aliases = new Map<string, string>();
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
      if (declared?.type === "TSInterfaceDeclaration") {
        const fields = declared.body.body.flatMap((member): Field[] =>
          member.type === "TSPropertySignature" && member.key.type === "Identifier" && member.typeAnnotation
            ? [
                {
                  name: member.key.name,
                  type: textOf(member.typeAnnotation.typeAnnotation),
                  isOptional: member.optional,
                  ...readDocstring(docBefore(member.start)),
                },
              ]
            : [],
        );
        interfaces.set(declared.id.name, fields);
      }
      if (declared?.type === "TSTypeAliasDeclaration") {
        const members = choicesOf(declared.id.name, textOf(declared.typeAnnotation), source);
        aliases.set(declared.id.name, members);
      }
    }
  }
  return { interfaces, aliases };
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
