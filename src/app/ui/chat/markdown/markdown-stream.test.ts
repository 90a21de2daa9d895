import fc from "fast-check";
import { marked } from "marked";
import { describe, expect, it } from "vitest";
import { headingLevels, MarkdownStream } from "./markdown-stream.ts";

const DOCUMENT = `Yeast is *alive*. It eats
the sugars & more < 3.

# Steps

1. Mix **flour** and \`water\`
   - warm

   still the first
2. Wait

   \`\`\`js
   wait();
   \`\`\`

> said she
and on

| a | b |
| - | - |
| 1 | 2 |

Title
-----
\`\`\`ts
const a = "<b>";

\`\`\`
<div onclick="x()">raw</div>

    indented

---
* one
* two
end.

\\[ a
- b
\\] Then $x$, $$y$$
\\[
# c
\\]
$$d$$ is
- e
$$
- f`;

it("gives the same blocks however the text arrives", () => {
  const whole = new MarkdownStream().blocksOf(DOCUMENT);
  expect(whole.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["paragraph", "heading", "list", "blockquote", "table", "code", "html", "hr"]),
  );
  const pieces = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(pieces, (lengths) => {
      const stream = new MarkdownStream();
      let end = 0;
      for (const length of lengths) stream.blocksOf(DOCUMENT.slice(0, (end += length)));
      expect(stream.blocksOf(DOCUMENT)).toEqual(whole);
    }),
    { numRuns: 30 },
  );
});

it("keeps the tokens of finished blocks as they are", () => {
  const stream = new MarkdownStream();
  const [first, second] = stream.blocksOf("One.\n\nTwo");
  const after = stream.blocksOf("One.\n\nTwo and a half.\n\nThree");
  expect(after[0]).toBe(first);
  expect(after[1]).not.toBe(second);
  expect(after).toHaveLength(3);
});

it("starts again for another text", () => {
  const stream = new MarkdownStream();
  stream.blocksOf("One.\n\nTwo.");
  expect(stream.blocksOf("Other.").map(({ raw }) => raw)).toEqual(["Other."]);
});

describe("the levels of an answer's headings", () => {
  it.each([
    ["# A\n\n## B\n\n# C", [3, 4, 3]],
    ["## A\n\n### B\n\n## C\n\ntext\n\n# D", [3, 4, 3, null, 3]],
    ["### A\n\n### B", [3, 3]],
    ["# A\n\n### B\n\n###### C\n\n## D", [3, 4, 5, 4]],
    ["# A\n\n## B\n\n### C\n\n#### D", [3, 4, 5, 5]],
    ["text", [null]],
  ])("%j has no gap", (text, levels) => {
    expect(
      headingLevels(
        marked.lexer(text).filter(({ type }) => type !== "space"),
        2,
      ),
    ).toEqual(levels);
  });
});
