// The built library in Firefox: its WebGPU has a compiler of its own (naga), and a driver of its own below.

import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECKPOINTS } from "../tests/models/golden-answers.ts";
import { PORTABLE_FILES } from "../tests/requests/portable-request.ts";
import { Firefox, hasFirefox, type LibraryPage } from "./support/firefox.ts";

describe.skipIf(!hasFirefox)("the library in Firefox", () => {
  let firefox: Firefox;
  let library: LibraryPage;
  beforeAll(async () => {
    firefox = await Firefox.open();
    library = await firefox.libraryPage();
  });
  afterAll(() => firefox.close());

  it.each(CHECKPOINTS)("%s answers as Hugging Face's code does", async (checkpoint) => {
    for (const answer of await library.find("goldenOf", checkpoint)) {
      expect(answer.tokens).toEqual(answer.expectedTokens);
      expect(answer.numLogprobs).toBeGreaterThanOrEqual(20);
      expect(answer.worstError).toBeLessThan(2e-4);
    }
  });

  it.each([
    { dtype: "f32", kvCacheDtype: "f32" },
    { dtype: "f16", kvCacheDtype: "f16" },
    { dtype: "q8", activationDtype: "int8", kvCacheDtype: "f16" },
  ] as const)("a request is what it is alone, whatever happens around it: in $dtype", async (dtypes) => {
    const { alone, rounds, hasHappened } = await library.find("exactnessIn", dtypes);
    expect(alone).toHaveLength(5);
    for (const answers of rounds) expect(answers).toEqual(alone);
    expect(hasHappened).toBe(true);
  });

  it.each(PORTABLE_FILES)("has on the CPU the bits that Node has: %s", async (file) => {
    expect(await library.find("portableAnswersOf", file)).toBe(readFileSync(`e2e/support/${file}`, "utf8"));
  });

  it("compiles every kernel, and finds nothing wrong where loops are written out", async () => {
    const { pipelines, hasSubgroups, numWritten, problems } = await library.find("compileAll");
    const compiled = new Set(pipelines.map((label) => label.split(" ")[0]));
    const needsSubgroups = (file: string) => /^enable subgroups;/m.test(readFileSync(`shaders/${file}`, "utf8"));
    const expected = readdirSync("shaders").filter(
      (file) => file.endsWith(".wgsl") && (hasSubgroups || !needsSubgroups(file)),
    );
    expect([...compiled].map((name) => `${name}.wgsl`).sort()).toEqual(expected.sort());
    expect(numWritten).toBeGreaterThan(expected.length / 2);
    expect(problems).toEqual([]);
  });

  it("leaves nothing in the console", () => {
    expect(firefox.problems).toEqual([]);
  });
});
