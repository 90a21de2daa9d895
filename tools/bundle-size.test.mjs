import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

import { describeBundle, measureBundle } from "./bundle-size.mjs";

test("the first bundle is the page, what it names, what that imports at once, and the engine's worker", () => {
  const folder = mkdtempSync(join(tmpdir(), "chorus-bundle-"));
  try {
    mkdirSync(join(folder, "assets"));
    const write = (/** @type {string} */ name, /** @type {string} */ text) => writeFileSync(join(folder, name), text);
    write(
      "index.html",
      '<script type="module" src="./assets/index-1.js"></script><link rel="stylesheet" href="./assets/index-2.css">',
    );
    write("assets/index-1.js", 'import{a as b}from"./shared-3.js";const later=()=>import("./later-4.js");');
    write("assets/shared-3.js", 'import"./deep-5.js";');
    write("assets/deep-5.js", "0");
    write("assets/later-4.js", "0");
    write("assets/index-2.css", "a{}");
    write("assets/engine.worker-6.js", "0");
    write("assets/kernel.worker-7.js", "0");

    const bundle = measureBundle(folder);
    expect(bundle.files.map(({ name }) => name).sort()).toEqual([
      "assets/deep-5.js",
      "assets/engine.worker-6.js",
      "assets/index-1.js",
      "assets/index-2.css",
      "assets/shared-3.js",
      "index.html",
    ]);
    expect(bundle.gzipBytes).toBe(bundle.files.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0));
    expect(describeBundle(bundle)).toContain("kB of at most 262 kB");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
