// Highlights over texts, which change neither elements nor layout.

import { tokenOfEachCharacter, type AnswerToken } from "../../state/chat/answer-tokens.ts";
import { rangeOf } from "./seen-text.ts";
import "./marked-text.css";

/** Marks a range until the returned function is called. @param name a highlight of marked-text.css */
export function markText(range: AbstractRange, name = "token"): () => void {
  const highlight = highlightOf(name);
  highlight?.add(range);
  return () => void highlight?.delete(range);
}

/** Returns the visible range of one of an element's tokens; null if it has none. */
export function rangeOfToken(root: Element, tokens: readonly AnswerToken[], token: number): Range | null {
  const owners = tokenOfEachCharacter(tokens, root.textContent ?? "");
  return rangeOf(root, owners.indexOf(token), owners.lastIndexOf(token) + 1);
}

/** Tokens at least this likely are not shaded; below each of the others, more. */
const SHADES = [0.9, 0.6, 0.3, 0.1] as const;

/** Shades an element's tokens by their likelihood until the returned function is called. */
export function shadeTokens(root: Element, tokens: readonly AnswerToken[]): () => void {
  const owners = tokenOfEachCharacter(tokens, root.textContent ?? "");
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
