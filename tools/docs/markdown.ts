import type { PageContext } from "@11ty/eleventy";

import { anchorOf } from "../anchor-of.mjs";
import { linkFrom, sourceOf } from "./page-paths.ts";

// The part of markdown-it, which Eleventy brings, that is used here.
interface Token {
  readonly type: string;
  readonly content: string;
  readonly children: readonly Token[] | null;
  readonly attrs: [string, string][] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}
type Rule = (
  tokens: readonly Token[],
  index: number,
  options: unknown,
  env: PageContext,
  self: { renderToken(tokens: readonly Token[], index: number, options: unknown): string },
) => string;
export interface MarkdownIt {
  readonly renderer: { readonly rules: Record<string, Rule | undefined> };
}

/**
 * Has the renderer write what the pages need: anchors of headings, addresses of pages, tables that scroll by themselves, and
 * classes instead of style attributes, which the page's policy forbids. `needs` learns the files that a page shows or links to.
 */
export function amendMarkdown({ renderer: { rules } }: MarkdownIt, needs: (file: string) => void): void {
  const plain: Rule = (tokens, index, options, _, self) => self.renderToken(tokens, index, options);
  const amend = (
    name: string,
    change: (token: Token, at: { tokens: readonly Token[]; index: number; source: string }) => void,
  ) => {
    const before = rules[name] ?? plain;
    rules[name] = (tokens, index, options, env, self) => {
      const token = tokens[index];
      if (token) change(token, { tokens, index, source: sourceOf(env.page.inputPath) });
      return before(tokens, index, options, env, self);
    };
  };
  const lead = (token: Token, name: "href" | "src", source: string) => {
    const { href, file } = linkFrom(source, token.attrGet(name) ?? "");
    if (file !== null) needs(file);
    token.attrSet(name, href);
  };

  amend("heading_open", (token, { tokens, index }) => token.attrSet("id", anchorsOf(tokens).get(index) ?? ""));
  amend("link_open", (token, { source }) => lead(token, "href", source));
  amend("image", (token, { source }) => lead(token, "src", source));
  amend("html_block", ({ content }, { source }) => {
    for (const [, link = ""] of content.matchAll(/(?:src|srcset)="([^"]+)"/g)) {
      const { file } = linkFrom(source, link);
      if (file !== null) needs(file);
    }
  });
  for (const name of ["th_open", "td_open"]) {
    amend(name, (token, { tokens, index }) => {
      const isRight = token.attrGet("style") === "text-align:right";
      const style = token.attrs?.findIndex(([attribute]) => attribute === "style") ?? -1;
      if (style >= 0) token.attrs?.splice(style, 1);
      if (isRight) token.attrSet("class", "number");
      const anchor = anchorsOf(tokens).get(index);
      if (anchor !== undefined) token.attrSet("id", anchor);
    });
  }
  // What scrolls by itself must be reached by keys.
  const fence = rules["fence"] ?? plain;
  rules["fence"] = (...args) => fence(...args).replace("<pre>", '<pre tabindex="0">');
  rules["table_open"] = (tokens, index) => {
    const heading = tokens.findLastIndex(({ type }, i) => type === "heading_open" && i < index);
    const name = textOf(tokens[heading + 1]).replaceAll('"', "&quot;");
    return `<div class="table" tabindex="0" role="region" aria-label="Table: ${name}">${tableTag(tokens, index)}\n`;
  };
  rules["table_close"] = () => "</table></div>\n";
}

const knownAnchors = new WeakMap<readonly Token[], ReadonlyMap<number, string>>();

/**
 * Returns the anchors of a page by their tokens' indices. Those of headings are GitHub's, which numbers what comes again. A
 * row that begins with a code has it for an anchor, unless a heading or an earlier row has.
 */
function anchorsOf(tokens: readonly Token[]): ReadonlyMap<number, string> {
  const known = knownAnchors.get(tokens);
  if (known) return known;
  const anchors = new Map<number, string>();
  const taken = new Set<string>();
  const add = (index: number, anchor: string) => {
    anchors.set(index, anchor);
    taken.add(anchor);
  };
  tokens.forEach(({ type }, index) => {
    if (type !== "heading_open") return;
    const anchor = anchorOf(textOf(tokens[index + 1]));
    let again = 0;
    while (taken.has(again === 0 ? anchor : `${anchor}-${again}`)) again += 1;
    add(index, again === 0 ? anchor : `${anchor}-${again}`);
  });
  tokens.forEach((_, index) => {
    const row = nameOfRow(tokens, index);
    if (row !== null && !taken.has(row)) add(index, row);
  });
  knownAnchors.set(tokens, anchors);
  return anchors;
}

/** Returns the code with which a row begins, if the token opens its first cell: rows can be linked to by it. */
function nameOfRow(tokens: readonly Token[], index: number): string | null {
  if (tokens[index - 1]?.type !== "tr_open" || tokens[index]?.type !== "td_open") return null;
  const [only, ...rest] = tokens[index + 1]?.children ?? [];
  return only?.type === "code_inline" && rest.length === 0 ? only.content : null;
}

const ROLES: Readonly<Record<string, string>> = { tr_open: "row", th_open: "columnheader", td_open: "cell" };

/**
 * Returns the tag of a table, and labels its cells if a narrow page is to show them one below the other: where it has three
 * columns or more, and rows that begin with a code, which would be cut into pieces there. The roles keep it a table for screen
 * readers.
 */
function tableTag(tokens: readonly Token[], begin: number): string {
  const end = tokens.findIndex(({ type }, i) => type === "table_close" && i > begin);
  const first = tokens.findIndex(({ type }, i) => type === "td_open" && i > begin);
  const headers = tokens
    .slice(begin, end)
    .flatMap(({ type }, i) => (type === "th_open" ? [textOf(tokens[begin + i + 1])] : []));
  if (headers.length < 3 || nameOfRow(tokens, first) === null) return "<table>";
  let column = 0;
  for (const token of tokens.slice(begin, end)) {
    if (token.type === "tr_open") column = 0;
    if (token.type === "td_open") {
      if (column > 0) token.attrSet("data-label", headers[column] ?? "");
      column += 1;
    }
    const role = ROLES[token.type];
    if (role !== undefined) token.attrSet("role", role);
  }
  return '<table class="stacked" role="table">';
}

function textOf(token: Token | undefined): string {
  return (token?.children ?? []).map(({ content }) => content).join("");
}
