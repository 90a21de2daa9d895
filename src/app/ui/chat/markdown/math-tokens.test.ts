import { expect, it } from "vitest";
import type { Token, Tokens } from "marked";
import { MarkdownStream } from "./markdown-stream.ts";

/** Returns the formulas of a text, those on lines of their own with a "!" before them. */
function formulasOf(text: string): readonly string[] {
  const found: string[] = [];
  const walk = (token: Token): void => {
    if (token.type === "math") found.push((token["isDisplay"] ? "!" : "") + (token["text"] as string));
    if ("tokens" in token) token.tokens?.forEach(walk);
    if (token.type === "list") (token["items"] as Token[]).forEach(walk);
    if (token.type === "table")
      (token["rows"] as Tokens.TableCell[][]).flat().forEach((cell) => cell.tokens.forEach(walk));
  };
  new MarkdownStream().blocksOf(text).forEach(walk);
  return found;
}

it.each([
  [String.raw`Where \( a+b \) is, and \(c_1\).`, ["a+b", "c_1"]],
  [String.raw`\[ E = mc^2 \]`, ["!E = mc^2"]],
  ["So\n\\[\n- a\n+ b\n\\]\nholds", ["!- a\n+ b"]],
  ["$$\nx\n$$\n\n$$y$$", ["!x", "!y"]],
  ["Here $$x$$ stands in a line", ["!x"]],
  [String.raw`$x$, $f(x) = \$2$ and **$\alpha\,\beta$**`, ["x", String.raw`f(x) = \$2`, String.raw`\alpha\,\beta`]],
  ["- one $x_1$\n- \\[ y \\]", ["x_1", "!y"]],
  ["| a | b |\n| - | - |\n| $x$ | \\(y\\) |", ["x", "y"]],
])("%j has formulas", (text, formulas) => {
  expect(formulasOf(text)).toEqual(formulas);
});

it.each([
  "It costs $5 and $6, or $5, or 6$ together",
  "US$5 and A$6_x",
  "`$x$` and ``\\(y\\)``",
  "    $x$",
  "```\n\\[ x \\]\n```",
  "$ x $ and $$ and \\( \\)",
  "$$\nx\n\ny\n$$",
  "\\[ x",
  "$a\nb$",
  String.raw`\$x$`,
  "It costs $5/day, or 30$/month",
  "I have $20 (=18€) and he 30$.",
  String.raw`See \[1\] and \[citation needed\], call f\(x\)`,
  `$$${"x".repeat(3000)}$$`,
])("%j has none", (text) => {
  expect(formulasOf(text)).toEqual([]);
});

it("a list behind two dollars and words is one", () => {
  const blocks = new MarkdownStream().blocksOf("$$ is the shell's PID\n- one\n- two");
  expect(blocks.map(({ type }) => type)).toEqual(["paragraph", "list"]);
});

it.each(["a\n$$\n", "$$a$$ b\n", "\\[a\\] b\n", "plain text line\n\\[x\\]\n", "\\[", "$$", "$$\n\n", "$x "])(
  "reads %j over and over in a time that grows with the text",
  (text) => {
    const whole = text.repeat(Math.ceil(40_000 / text.length)).slice(0, 40_000);
    /** The process's own, of which other files' tests may take a part. */
    const processorMs = () => {
      const before = process.cpuUsage();
      new MarkdownStream().blocksOf(whole);
      return process.cpuUsage(before).user / 1000;
    };
    // The square of the length took seconds. A machine that is busy may be slow, but not each time.
    let leastMs = processorMs();
    for (let i = 0; i < 5 && leastMs >= 1500; i++) leastMs = Math.min(leastMs, processorMs());
    expect(leastMs).toBeLessThan(1500);
  },
);
