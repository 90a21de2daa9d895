import { marked } from "marked";
import { describe, expect, it } from "vitest";
import { headingLevels } from "./heading-levels.ts";

describe("the levels of an answer's headings", () => {
  it.each([
    ["# A\n\n## B\n\n# C", [3, 4, 3]],
    ["## A\n\n### B\n\n## C\n\ntext\n\n# D", [3, 4, 3, null, 3]],
    ["### A\n\n### B", [3, 3]],
    ["# A\n\n### B\n\n###### C\n\n## D", [3, 4, 5, 4]],
    ["# A\n\n## B\n\n### C\n\n#### D", [3, 4, 5, 5]],
    ["text", [null]],
  ])("%j has no gap", (text, levels) => {
    expect(headingLevels(marked.lexer(text).filter(({ type }) => type !== "space"))).toEqual(levels);
  });
});
