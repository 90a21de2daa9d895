import type { MarkedOptions, Tokens, TokenizerThis } from "marked";

/** A formula. */
export interface MathToken extends Tokens.Generic {
  readonly type: "math";
  /** TeX, without what encloses it. */
  readonly text: string;
  /** Whether it stands on a line of its own. */
  readonly isDisplay: boolean;
}

/** A formula ends with its paragraph, as in TeX. */
const INSIDE = String.raw`((?:(?!\n[ \t]*\n)[^])+?)`;
const ON_LINES = String.raw`(?:\\\[${INSIDE}\\\]|\$\$${INSIDE}\$\$)`;
const IN_TEXT = new RegExp(String.raw`^\\\(${INSIDE}\\\)`);
const DISPLAY = new RegExp(`^${ON_LINES}`);
const BLOCK = new RegExp(String.raw`^ {0,3}${ON_LINES}[ \t]*(?:\n|$)`);
const BLOCK_BEGINS = /^ {0,3}(?:\\\[|\$\$)/;
const FIRST_LINE = /^[^\n]*(?:\n|$)/;
const PARAGRAPH = /^[^]*?(?=\n[ \t]*\n|$)/;
/** Not "$5 and $6": a space before the second, or a digit behind it, makes it an amount. */
const IN_DOLLARS = /^\$(?![\s$])((?:\\[^\n]|[^\\$\n])*?(?:\\[^\n]|[^\s\\$]))\$(?![\p{L}\p{N}$])/u;
/** A word, or signs that prose does not have: "$5, or 6$" is no formula. */
const IS_TEX = /^\S+$|[\\^_={}<>+*/|]/;

function formula(raw: string, tex: string, isDisplay: boolean): MathToken | undefined {
  const text = tex.trim();
  return text ? { type: "math", raw, text, isDisplay } : undefined;
}

function inlineMath(source: string): MathToken | undefined {
  const [raw, text = ""] = IN_TEXT.exec(source) ?? [];
  if (raw !== undefined) return formula(raw, text, false);
  const [display, inBrackets, inDollars] = DISPLAY.exec(source) ?? [];
  if (display !== undefined) return formula(display, inBrackets ?? inDollars ?? "", true);
  const [simple, inside = ""] = IN_DOLLARS.exec(source) ?? [];
  return simple !== undefined && IS_TEX.test(inside) ? formula(simple, inside, false) : undefined;
}

/** Where a formula begins a line, no line up to its end is a list or a heading, also while the end is still to come. */
function blockMath(this: TokenizerThis, source: string): MathToken | Tokens.Paragraph | undefined {
  if (!BLOCK_BEGINS.test(source)) return undefined;
  const [block, inBrackets, inDollars] = BLOCK.exec(source) ?? [];
  const token = block === undefined ? undefined : formula(block, inBrackets ?? inDollars ?? "", true);
  if (token) return token;
  const [line = ""] = FIRST_LINE.exec(source) ?? [];
  const [paragraph = ""] = PARAGRAPH.exec(source) ?? [];
  const raw = DISPLAY.test(line.trimStart()) ? line : paragraph;
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
  // Within the paragraph: looked for in all that follows, it would take the square of the text's length.
  startBlock: [(source) => /^ {0,3}(?:\\\[|\$\$)/m.exec(PARAGRAPH.exec(source)?.[0] ?? "")?.index],
};
