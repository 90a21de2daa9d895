import { readFileSync } from "node:fs";

/** Reads a `_headers` file, and returns which headers it gives a path. */
export function readHeaders(file: string): (path: string) => Record<string, string> {
  const rules: { readonly pattern: RegExp; readonly headers: [string, string][] }[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [, name = "", value = ""] = /^ +([\w-]+): (.+)$/.exec(line) ?? [];
    if (line.startsWith("/")) rules.push({ pattern: new RegExp(`^${line.replaceAll("*", ".*")}$`), headers: [] });
    else if (name !== "") rules.at(-1)?.headers.push([name, value]);
  }
  return (path) => Object.fromEntries(rules.flatMap(({ pattern, headers }) => (pattern.test(path) ? headers : [])));
}
