import { describe, expect, it, test } from "vitest";
import type { Token } from "marked";
import { MarkdownStream } from "./markdown-stream.ts";

const blocksOf = (text: string) => new MarkdownStream().blocksOf(text);

interface Nested {
  readonly tokens?: readonly Nested[];
  readonly items?: readonly Nested[];
}

function depthOf(tokens: readonly Token[]): number {
  let depth = 0;
  let level = tokens as readonly Nested[];
  while (level.length > 0) {
    depth += 1;
    level = level.flatMap(({ tokens: inner = [], items = [] }) => [...inner, ...items]);
  }
  return depth;
}

describe("what is nested without end stays shallow", () => {
  test.each([
    ["lists in a line", "- ".repeat(2000) + "deep"],
    ["indented lists", Array.from({ length: 300 }, (_, i) => `${"  ".repeat(i)}- deep`).join("\n")],
    ["quotes", "> ".repeat(5000) + "deep"],
    ["emphasis", `${"*a _b ".repeat(900)}deep${" b_ a*".repeat(100)}`],
    ["links", `${"[".repeat(1000)}deep${"](y)".repeat(1000)}`],
  ])("%s", (_, text) => {
    const blocks = blocksOf(text);
    expect(depthOf(blocks)).toBeLessThan(80);
    expect(JSON.stringify(blocks)).toContain("deep");
  });
});

it("makes no table of thousands of columns", () => {
  const table = (columns: number) => `${"|a".repeat(columns)}|\n${"|-".repeat(columns)}|\n|b|`;
  expect(blocksOf(table(20))[0]?.type).toBe("table");
  expect(blocksOf(table(2000))[0]?.type).toBe("paragraph");
});

it("leaves a paragraph of many pages, and an answer of hundreds, as the text that it is", () => {
  const [paragraph] = blocksOf(`*a* ${"_a".repeat(10_000)}`);
  expect((paragraph as Nested).tokens).toHaveLength(1);
  const long = "*a*\n\n".repeat(100_000);
  expect(blocksOf(long)).toEqual([expect.objectContaining({ raw: long })]);
});
