import { Lexer, Tokenizer, type Token, type Tokens, type TokensList } from "marked";
import { MATH } from "./math-tokens.ts";

/** Most blocks and emphasis within each other. Deeper ones are plain text: marked and React recurse, and the stack ends. */
const MAX_DEPTH = 16;
/** Most characters of a paragraph, item or cell. marked's time grows with the square, so a longer one is plain text. */
const MAX_INLINE_LENGTH = 3_000;
/** Most characters of a heading that is underlined. */
const MAX_HEADING_LENGTH = 1_000;
/** A table repeats its columns in every row, however short that row is. */
const MAX_COLUMNS = 32;

/** marked's lexer for text that anyone may have written: it takes a bounded time and depth. */
export class BoundedLexer extends Lexer {
  #blockDepth = 0;
  #inlineDepth = 0;

  constructor() {
    super({ gfm: true, breaks: true, tokenizer: new BoundedTokenizer(), extensions: MATH });
  }

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] = [], isClipped = false): Token[] {
    if (this.#blockDepth >= MAX_DEPTH) return withText(source, tokens);
    this.#blockDepth += 1;
    try {
      return super.blockTokens(source, tokens, isClipped);
    } finally {
      this.#blockDepth -= 1;
    }
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (this.#inlineDepth >= MAX_DEPTH || source.length > MAX_INLINE_LENGTH) return withText(source, tokens);
    this.#inlineDepth += 1;
    try {
      return super.inlineTokens(source, tokens);
    } finally {
      this.#inlineDepth -= 1;
    }
  }
}

class BoundedTokenizer extends Tokenizer {
  override table(source: string): Tokens.Table | undefined {
    const [head = ""] = source.split("\n", 1);
    return head.split("|").length > MAX_COLUMNS ? undefined : super.table(source);
  }

  /** A heading is underlined soon: looked for behind each line, it would take the square of the text's length. */
  override lheading(source: string): Tokens.Heading | undefined {
    return super.lheading(source.slice(0, MAX_HEADING_LENGTH));
  }
}

function withText(source: string, tokens: Token[]): Token[] {
  tokens.push({ type: "text", raw: source, text: source, escaped: false } satisfies Tokens.Text);
  return tokens;
}
