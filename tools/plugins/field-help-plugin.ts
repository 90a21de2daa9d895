import { readFileSync } from "node:fs";

import type { Plugin } from "vite";

import { readTypes } from "../docs/reference/read-types.ts";

/**
 * Imported as "table.ts?help", a file is what the docstrings of its tables' fields say, by the fields' names. So the help of a form
 * stands beside each field, and loads with the form.
 */
export function fieldHelp(): Plugin {
  return {
    name: "field-help",
    enforce: "pre",
    load(id) {
      const [path = "", query] = id.split("?");
      if (query !== "help") return null;
      const fields = [...readTypes([readFileSync(path, "utf8")]).tables.values()].flat();
      const help = Object.fromEntries(fields.flatMap(({ name, words }) => (words === "" ? [] : [[name, words]])));
      return `export default ${JSON.stringify(help)}`;
    },
  };
}
