import { existsSync, readdirSync, readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { root } from "./run-command.mjs";

const scripts = readdirSync(`${root}/tools`).filter((name) => name.endsWith(".mjs") && !name.endsWith(".test.mjs"));

// No other test starts the benchmarks.
it("every file of src that a command names is there", () => {
  const named = scripts.flatMap((name) => {
    const text = readFileSync(`${root}/tools/${name}`, "utf8");
    return [...text.matchAll(/["'`/](src\/[\w./-]+\.(?:ts|html))["'`]/g)].map(([, path]) => path);
  });
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
});
