import type { MarkedOptions, Token, Tokens, TokenizerThis } from "marked";

export interface MathToken extends Tokens.Generic {
  readonly type: "math";
  /** TeX, without what encloses it. */
  readonly text: string;
  /** Whether it stands on a line of its own. */
  readonly isDisplay: boolean;
}

/** Longer ones stay text: KaTeX's time, and that of looking for their ends, has a bound. [characters] */
const MAX_LENGTH = 2000;
/** A formula ends with its paragraph, as in TeX. */
const INSIDE = String.raw`((?:(?!\n[ \t]*\n)[^]){1,${MAX_LENGTH}}?)`;
const ON_LINES = String.raw`(?:\\\[${INSIDE}\\\]|\$\$${INSIDE}\$\$)`;
const IN_TEXT = new RegExp(String.raw`^\\\(${INSIDE}\\\)`);
const DISPLAY = new RegExp(`^${ON_LINES}`);
const BLOCK = new RegExp(String.raw`^ {0,3}${ON_LINES}[ \t]*(?:\n|$)`);
/** Two dollars with words behind them begin a formula only if it ends on that line. */
const BLOCK_BEGINS = String.raw`^ {0,3}(?:\\\[|\$\$(?:[ \t]*(?:\n|$)|[^\n]+\$\$))`;
const IS_BLOCK = new RegExp(BLOCK_BEGINS);
const NEXT_BLOCK = new RegExp(BLOCK_BEGINS, "m");
const FIRST_LINE = /^[^\n]*(?:\n|$)/;
const PARAGRAPH = /^[^]*?(?=\n[ \t]*\n|$)/;
/** Not "$5 and $6": a space before the second, or a digit behind it, makes it an amount. */
const IN_DOLLARS = /^\$(?![\s$])((?:\\[^\n]|[^\\$\n])*?(?:\\[^\n]|[^\s\\$]))\$(?![\p{L}\p{N}$])/u;
/** A word, or signs that prose does not have: "$5, or 6$" is no formula. */
const IS_TEX = /^\S+$|[\\^_={}<>+*/|]/;
/** Words that follow one another, without a command of TeX, are prose: "$5/day, or 30$". */
const IS_PROSE = /^[^\\]*\p{L}{2,}[\s,.]+\p{L}{2,}[^\\]*$/u;
/** Within a line "\[1\]" is how Markdown writes brackets. */
const IS_DISPLAY_TEX = /[\\^_={}]/;
const FOLLOWS_WORD = /[A-Za-z0-9]$/;

function formula(raw: string, tex: string, isDisplay: boolean): MathToken | undefined {
  const text = tex.trim();
  return text && text.length <= MAX_LENGTH ? { type: "math", raw, text, isDisplay } : undefined;
}

function inlineMath(source: string, before: readonly Token[]): MathToken | undefined {
  if (source[0] !== "\\" && source[0] !== "$") return undefined;
  if (FOLLOWS_WORD.test(before.at(-1)?.raw ?? "")) return undefined;
  const [raw, text = ""] = IN_TEXT.exec(source) ?? [];
  if (raw !== undefined) return formula(raw, text, false);
  const [display, inBrackets, inDollars = ""] = DISPLAY.exec(source) ?? [];
  if (display !== undefined) {
    if (inBrackets !== undefined && !IS_DISPLAY_TEX.test(inBrackets)) return undefined;
    return formula(display, inBrackets ?? inDollars, true);
  }
  const [simple, inside = ""] = IN_DOLLARS.exec(source) ?? [];
  return simple !== undefined && IS_TEX.test(inside) && !IS_PROSE.test(inside)
    ? formula(simple, inside, false)
    : undefined;
}

/** Where a formula begins a line, no line up to its end is a list or a heading, also while the end is still to come. */
function blockMath(this: TokenizerThis, source: string): MathToken | Tokens.Paragraph | undefined {
  if (!IS_BLOCK.test(source)) return undefined;
  const [block, inBrackets, inDollars] = BLOCK.exec(source) ?? [];
  const token = block === undefined ? undefined : formula(block, inBrackets ?? inDollars ?? "", true);
  if (token) return token;
  const [line = ""] = FIRST_LINE.exec(source) ?? [];
  const isOneLine = DISPLAY.test(line.trimStart());
  const [raw = ""] = isOneLine ? [line] : (PARAGRAPH.exec(source.slice(0, MAX_LENGTH)) ?? []);
  const text = raw.trimEnd();
  return { type: "paragraph", raw, text, tokens: this.lexer.inline(text) };
}

/** How marked reads formulas as models write them: `\( \)`, `\[ \]`, `$` and `$$`. */
export const MATH: NonNullable<MarkedOptions["extensions"]> = {
  renderers: {},
  childTokens: {},
  inline: [inlineMath],
  block: [blockMath],
  startInline: [(source) => /\\[([]|(?<![\p{L}\p{N}])\$/u.exec(source)?.index],
  // Within the paragraph's beginning: looked for in all that follows, it would take the square of the text's length.
  startBlock: [(source) => NEXT_BLOCK.exec(PARAGRAPH.exec(source.slice(0, MAX_LENGTH))?.[0] ?? "")?.index],
};
