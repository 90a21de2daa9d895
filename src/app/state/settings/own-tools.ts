import { anyObject, listOf, oneOf, optional, recordOf, text, wrong, type Read } from "../read-record.ts";

const NAME: Read<string> = (value, path) => {
  if (/^[\w-]{1,64}$/.test(text(value, path))) return text(value, path);
  throw wrong(value, path, '1 to 64 letters, digits, "_" and "-"');
};
const CALLED = recordOf({ name: NAME, description: optional(text), parameters: optional(anyObject) });
const TOOL = recordOf({ type: oneOf("function"), function: CALLED });

/** Checks a list of tools in OpenAI's form. @throws ChorusError that names the first wrong place */
export const checkTools: Read<unknown> = (value, path) => {
  const names = new Set<string>();
  const another: Read<void> = (one, place) => {
    const { function: own } = TOOL(one, place);
    if (names.has(own.name)) throw wrong(own.name, `${place}.function.name`, "a name that no other tool has");
    names.add(own.name);
  };
  listOf(another)(value, path);
};
