import { Lexer, type Token } from "marked";

const OPTIONS = { gfm: true, breaks: true };

/**
 * Parses Markdown that grows at its end. Only the text after the last finished block is parsed again. Tokens of
 * finished blocks stay the same objects, so their components are not rendered again.
 *
 * A block is finished when another one has begun behind it. (A link's address that is defined further down is not
 * found.)
 */
export class MarkdownStream {
  #finished: Token[] = [];
  #finishedText = "";

  /** Returns the blocks of the whole text so far. */
  blocksOf(text: string): readonly Token[] {
    const source = text.replaceAll("\r\n", "\n");
    if (!source.startsWith(this.#finishedText)) {
      this.#finished = [];
      this.#finishedText = "";
    }
    const tokens = Lexer.lex(source.slice(this.#finishedText.length), OPTIONS);
    const last = tokens.findLastIndex(isSeen);
    for (const token of tokens.slice(0, Math.max(0, last))) {
      this.#finishedText += token.raw;
      if (isSeen(token)) this.#finished = [...this.#finished, token];
    }
    const open = tokens[last];
    return open ? [...this.#finished, open] : this.#finished;
  }
}

function isSeen({ type }: Token): boolean {
  return type !== "space" && type !== "def";
}
