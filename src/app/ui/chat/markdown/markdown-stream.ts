import type { Token } from "marked";

import { BoundedLexer } from "./bounded-lexer.ts";

/** Longer answers are plain text: marked would take seconds. */
const MAX_LENGTH = 40_000;

/**
 * Parses Markdown that grows at its end. Only the text after the last finished block is parsed again. Tokens of
 * finished blocks stay the same objects, so their components are not rendered again.
 * A block is finished when another one has begun behind it. (A link's address that is defined further down is not
 * found.)
 */
export class MarkdownStream {
  #finished: Token[] = [];
  #finishedText = "";

  blocksOf(text: string): readonly Token[] {
    if (text.length > MAX_LENGTH) return [{ type: "html", block: true, raw: text, text }];
    const source = text.replaceAll("\r\n", "\n");
    if (!source.startsWith(this.#finishedText)) {
      this.#finished = [];
      this.#finishedText = "";
    }
    const tokens = new BoundedLexer().lex(source.slice(this.#finishedText.length));
    const last = tokens.findLastIndex(isSeen);
    const finished = tokens.slice(0, Math.max(0, last));
    this.#finishedText += finished.map(({ raw }) => raw).join("");
    this.#finished = [...this.#finished, ...finished.filter(isSeen)];
    const open = tokens[last];
    return open ? [...this.#finished, open] : this.#finished;
  }
}

function isSeen({ type }: Token): boolean {
  return type !== "space" && type !== "def";
}

const LAST_LEVEL = 5;

/**
 * Returns each block's level as a heading of the page; null if it is not one. An answer may begin with any depth and skip
 * some, but the page's outline has no gaps. A block's level depends only on the blocks before it.
 */
export function headingLevels(blocks: readonly Token[], levelsAbove: number): readonly (number | null)[] {
  /** Depths of the newest heading's parents. */
  const open: number[] = [];
  return blocks.map((token) => {
    if (token.type !== "heading") return null;
    while ((open.at(-1) ?? 0) >= token["depth"]) open.pop();
    open.push(token["depth"]);
    return Math.min(LAST_LEVEL, levelsAbove + open.length);
  });
}
