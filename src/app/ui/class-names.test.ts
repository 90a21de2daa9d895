// Neither the compiler nor the browser misses a class that no style sheet has.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compile } from "tailwindcss";
import { expect, test } from "vitest";

const FOLDER = import.meta.dirname;
const read = (path: string) => readFileSync(join(FOLDER, path), "utf8");
const code = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((path) =>
  /(?<!\.test)\.tsx?$/.test(path),
);
const classesOf = (css: string) =>
  new Set(
    [...css.replaceAll(/\/\*.*?\*\/|url\(.*?\)|"[^"]*"/gs, "").matchAll(/\.([a-z][\w-]*)/gi)].map(
      ([, name = ""]) => name,
    ),
  );
const kit = classesOf(["kit", "controls", "late"].map((name) => read(`${name}.css`)).join(""));
const namesIn = (text: string) =>
  [...text.matchAll(/className="([^"]*)"/g)].flatMap(([, names = ""]) => names.split(" ").filter(Boolean));

test("every class that a component names is the kit's or Tailwind's, and every class of the kit is named", async () => {
  const tailwind = await compile(`${read("tokens.css")}@tailwind utilities;`);
  const named = new Set(code.flatMap((path) => namesIn(read(path))));
  const css = tailwind.build([...named]);
  const marks = /^(?:group|peer)(?:\/|$)/;
  const isTailwinds = (name: string) => css.includes(`.${name.replaceAll(/[^\w-]/g, String.raw`\$&`)}`);
  expect([...named].filter((name) => !kit.has(name) && !marks.test(name) && !isTailwinds(name))).toEqual([]);

  const words = new Set(
    code.flatMap((path) => [...read(path).matchAll(/["' ]([\w-]+)(?=["' ])/g)].map(([, word]) => word)),
  );
  expect([...kit].filter((name) => !words.has(name))).toEqual([]);
});

test("the style sheet of a first visit has the classes of all that it loads", () => {
  const sources = [...read("styles.css").matchAll(/@source (not )?"\.\/(.*)"/g)].map(([, not, glob = ""]) => ({
    isIn: not === undefined,
    pattern: new RegExp(
      `^${glob.replaceAll(".", "\\.").replaceAll("*", "[^/]*").replaceAll("{", "(").replaceAll("}", ")").replaceAll(",", "|")}$`,
    ),
  }));
  const isScanned = (path: string) => sources.findLast(({ pattern }) => pattern.test(path))?.isIn ?? false;
  const reached = new Set(["app/start-app.ts"]);
  for (const path of reached) {
    for (const [, imported = ""] of read(path).matchAll(/^(?:import|export) (?!type).*?from "(\.[^"]*\.tsx?)"/gms)) {
      const target = join(dirname(path), imported);
      if (!target.startsWith("..")) reached.add(target);
    }
  }
  expect(reached.size).toBeGreaterThan(50);
  expect([...reached].filter((path) => namesIn(read(path)).some((name) => !kit.has(name)) && !isScanned(path))).toEqual(
    [],
  );
});
