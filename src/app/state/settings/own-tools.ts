import type { JsonReader } from "../json-reader.ts";

/** Checks a list of tools in OpenAI's form. @throws ChorusError that names the first wrong place */
export function checkTools(root: JsonReader): void {
  const names = new Set<string>();
  for (const tool of root.list()) {
    tool.field("type").oneOf(["function"]);
    const called = tool.field("function");
    const name = called.field("name");
    if (!/^[\w-]{1,64}$/.test(name.string())) throw name.wrong('1 to 64 letters, digits, "_" and "-"');
    if (names.has(name.string())) throw name.wrong("a name that no other tool has");
    names.add(name.string());
    if (called.has("description")) called.field("description").string();
    if (called.has("parameters")) called.field("parameters").object();
  }
}
