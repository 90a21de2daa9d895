import { existsSync, readdirSync, readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { root } from "./run-command.mjs";

const scripts = ["tools", "lab"].flatMap((folder) =>
  readdirSync(`${root}/${folder}`, { recursive: true })
    .map(String)
    .filter((name) => /(?<!\.test)\.(mjs|ts)$/.test(name) && !name.includes("node_modules"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`),
);

// No other test starts the benchmarks.
it("every file and folder of the project that a command names is there", () => {
  const named = scripts.flatMap((name) => {
    const text = readFileSync(`${root}/${name}`, "utf8");
    return [...text.matchAll(/["'`/]((?:src|lab|tests|tools)\/[\w./-]*\w)["'`]/g)].map(([, path]) => path);
  });
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
});
