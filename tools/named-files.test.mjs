import { existsSync, readdirSync, readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { root } from "./run-command.mjs";

const scripts = ["tools", "lab/runs"].flatMap((folder) =>
  readdirSync(`${root}/${folder}`)
    .filter((name) => name.endsWith(".mjs") && !name.endsWith(".test.mjs"))
    .map((name) => `${folder}/${name}`),
);

// No other test starts the benchmarks.
it("every file of src, lab and tests that a command names is there", () => {
  const named = scripts.flatMap((name) => {
    const text = readFileSync(`${root}/${name}`, "utf8");
    return [...text.matchAll(/["'`/]((?:src|lab|tests)\/[\w./-]+\.(?:ts|html))["'`]/g)].map(([, path]) => path);
  });
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
});
