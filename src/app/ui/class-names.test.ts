// Neither the compiler nor the browser misses a class that no style sheet has.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = import.meta.dirname;
const read = (path: string) => readFileSync(path, "utf8");
const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).map((path) => join(FOLDER, path));
const modules = files.filter((path) => path.endsWith(".module.css"));
const code = files.filter((path) => /(?<!\.test)\.tsx?$/.test(path));
const classesOf = (css: string) =>
  new Set(
    [...css.replaceAll(/\/\*.*?\*\/|url\(.*?\)/gs, "").matchAll(/\.([a-z][\w-]*)/gi)].map(([, name]) => name ?? ""),
  );
const missingIn = (some: Iterable<string>, all: ReadonlySet<string>) => [...some].filter((name) => !all.has(name));

test("every class that a component takes from a module is there, and every class there is taken", () => {
  const used = new Map<string, Set<string>>(modules.map((path) => [path, new Set()]));
  for (const path of code) {
    const text = read(path);
    for (const [, name = "", file = ""] of text.matchAll(/import (\w+) from "(.*\.module\.css)"/g)) {
      const names = used.get(join(dirname(path), file));
      for (const [, taken = ""] of text.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, "g"))) names?.add(taken);
      // "css[look]": any of them.
      if (text.includes(`${name}[`)) for (const each of classesOf(read(join(dirname(path), file)))) names?.add(each);
    }
  }
  const wrong = [...used].flatMap(([path, names]) => {
    const text = read(path);
    const defined = classesOf(text);
    for (const [, composed = ""] of text.matchAll(/composes: (\w+);/g)) names.add(composed);
    return [...names, ...defined]
      .filter((name) => names.has(name) !== defined.has(name))
      .map((name) => `${path}: ${name}`);
  });
  expect(wrong).toEqual([]);
});

test("every class of the kit is used, and every class that a module is made of is in it", () => {
  const kit = classesOf(read(join(FOLDER, "kit.css")) + read(join(FOLDER, "controls.css")));
  const composed = [
    ...modules
      .map(read)
      .join("\n")
      .matchAll(/composes: (.*) from global/g),
  ].flatMap(([, names = ""]) => names.split(" "));
  expect(missingIn(composed, kit), "composed, and not in the kit").toEqual([]);
  const strings = code.flatMap((path) => [...read(path).matchAll(/["']([\w -]+)["']/g)]);
  const used = new Set([...composed, ...strings.flatMap(([, names = ""]) => names.split(" "))]);
  expect(missingIn(kit, used), "in the kit, and not used").toEqual([]);
});
