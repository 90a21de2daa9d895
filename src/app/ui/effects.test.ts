// React takes what an effect or a ref callback returns for its clean-up, and calls it. DOM methods that return nothing by
// their types return promises in newer browsers (the scroll methods in Chromium 156): a short arrow around one ends the page.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const sources = readdirSync("src/app/ui", { recursive: true, encoding: "utf8" })
  .filter((path) => /(?<!\.test)\.tsx?$/.test(path))
  .map((path) => `src/app/ui/${path}`);
const EFFECT = /\buse(?:Layout|Insertion)?Effect\((?!\(\) => \{)/g;
const REF = /\bref=\{(?:async )?\(.*?\) => (?!\{)/g;
const RETURNED = /\breturn [^;{}=]*\.(?:scroll\w*|focus|blur|select|showModal|show|close|showPopover|hidePopover)\(/g;

test("effects and ref callbacks have bodies in braces, and nothing returns what a DOM method returned", () => {
  expect(sources.length).toBeGreaterThan(100);
  const found = sources.flatMap((path) => {
    const source = readFileSync(path, "utf8");
    return [EFFECT, REF, RETURNED].flatMap((wrong) =>
      [...source.matchAll(wrong)].map(
        ({ 0: text, index }) => `${path}:${source.slice(0, index).split("\n").length} ${text}`,
      ),
    );
  });
  expect(found).toEqual([]);
});
