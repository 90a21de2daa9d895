// Highlights over texts, which change neither elements nor layout. The visible text of an element is one row of characters,
// across its child elements.

import { tokenOfEachCharacter, type AnswerToken } from "../../state/chat/answer-tokens.ts";
import "./marked-text.css";

/** Marks a range until the returned function is called. @param name a highlight of marked-text.css */
export function markText(range: AbstractRange, name = "token"): () => void {
  const highlight = highlightOf(name);
  highlight?.add(range);
  return () => void highlight?.delete(range);
}

/** Returns the visible range of one of an element's tokens; null if it has none. */
export function rangeOfToken(root: Element, tokens: readonly AnswerToken[], token: number): Range | null {
  const owners = ownersIn(root, tokens);
  return rangeOf(root, owners.indexOf(token), owners.lastIndexOf(token) + 1);
}

/** Returns the token at a point of the window; null if there is none. */
export function tokenAt(root: Element, tokens: readonly AnswerToken[], x: number, y: number): number | null {
  const character = characterAt(root, x, y);
  return character === null ? null : (ownersIn(root, tokens)[character] ?? null);
}

/** Returns the token that each of an element's visible characters belongs to. */
export function ownersIn(root: Element, tokens: readonly Pick<AnswerToken, "text">[]): Int32Array {
  return tokenOfEachCharacter(tokens, root.textContent ?? "");
}

/** Tokens at least this likely are not shaded; below each of the others, more. */
const SHADES = [0.9, 0.6, 0.3, 0.1] as const;

/** Shades an element's tokens by their likelihood until the returned function is called. */
export function shadeTokens(root: Element, tokens: readonly AnswerToken[]): () => void {
  const owners = ownersIn(root, tokens);
  const undo: (() => void)[] = [];
  for (let from = 0; from < owners.length;) {
    const token = owners[from] ?? 0;
    let to = from + 1;
    while (owners[to] === token) to++;
    const shade = SHADES.filter((least) => Math.exp(tokens[token]?.logprob ?? 0) < least).length;
    const range = shade > 0 ? rangeOf(root, from, to) : null;
    if (range) undo.push(markText(range, `likelihood-${shade}`));
    from = to;
  }
  return () => {
    for (const remove of undo) remove();
  };
}

/** Returns a highlight; undefined if the browser has none. */
function highlightOf(name: string): Highlight | undefined {
  if (!("highlights" in CSS)) return undefined;
  const known = CSS.highlights.get(name);
  if (known) return known;
  const made = new Highlight();
  // Marks lie over the shades.
  made.priority = name.startsWith("likelihood") ? 0 : 1;
  CSS.highlights.set(name, made);
  return made;
}

/** Returns each text node with the index of its first character. */
function textNodes(root: Element): { node: Text; start: number }[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let start = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    nodes.push({ node, start });
    start += node.length;
  }
  return nodes;
}

/** Returns the range from one character to before another; null if they don't exist. */
export function rangeOf(root: Element, from: number, to: number): Range | null {
  const nodes = textNodes(root);
  const place = (at: number) => nodes.findLast(({ start, node }) => start <= at && at <= start + node.length);
  const [first, last] = [nodes.find(({ start, node }) => from < start + node.length), place(to)];
  if (!first || !last) return null;
  const range = document.createRange();
  range.setStart(first.node, Math.max(0, from - first.start));
  range.setEnd(last.node, to - last.start);
  return range;
}

/** Returns the index of the character at a point of the window; null if there is none. */
function characterAt(root: Element, x: number, y: number): number | null {
  const caret = caretAt(x, y);
  const found = caret && textNodes(root).find(({ node }) => node === caret.node);
  if (!found) return null;
  // A caret is between two characters; the point is on one of them.
  for (const at of [found.start + caret.offset - 1, found.start + caret.offset]) {
    const rect = at < 0 ? null : rangeOf(root, at, at + 1)?.getBoundingClientRect();
    if (rect && rect.left <= x && x <= rect.right && rect.top <= y && y <= rect.bottom) return at;
  }
  return null;
}

function caretAt(x: number, y: number): { node: Node; offset: number } | null {
  // Older browsers have only the second.
  if ("caretPositionFromPoint" in document) {
    const position = document.caretPositionFromPoint(x, y);
    return position && { node: position.offsetNode, offset: position.offset };
  }
  const range = (document as Document).caretRangeFromPoint(x, y);
  return range && { node: range.startContainer, offset: range.startOffset };
}
