import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";

import type { Explanation } from "../../../src/app/ui/explain/explanations.ts";
import { Run } from "../../../src/app/ui/explain/Run.tsx";

/** Returns a term's words, and its picture by the path that it has beside the documents. */
export function explanationPart({ title, words, pictureWords }: Explanation, term: string): string {
  return `${words}\n\n![${title}, step by step](${picturePath(term)})\n\n${pictureWords}`;
}

export const picturePath = (term: string): string => `pictures/${term}.svg`;

/** Width in pixels of a unit of the drawing. */
const SCALE = 1.5;

/** Returns the whole run as a file. @param tokens the app's tokens.css, whose colours it has in the light and in the dark */
export function pictureFile(explanation: Explanation, tokens: string): string {
  const drawing = renderToStaticMarkup(
    createElement(Run, { rows: explanation.picture, upTo: Infinity, label: explanation.pictureWords }),
  );
  const [, width = "", height = ""] = /viewBox="0 0 (\d+) (\d+)"/.exec(drawing) ?? [];
  const [light, dark] = [coloursOf("light", tokens, drawing), coloursOf("dark", tokens, drawing)];
  const style =
    `svg{${light}}@media (prefers-color-scheme:dark){svg{${dark}}}` +
    // The drawings' one class is the cross of a preempted sequence.
    "path[class]{stroke:var(--color-bad)}text{fill:var(--color-ink-2);font:500 11px system-ui,sans-serif}";
  const size = `xmlns="http://www.w3.org/2000/svg" width="${Number(width) * SCALE}" height="${Number(height) * SCALE}"`;
  return (
    drawing
      .replace("<svg", `<svg ${size}`)
      .replace(">", `><style>${style}</style>`)
      .replaceAll(/ class="[^"]*"/g, ' class="cross"') + "\n"
  );
}

function coloursOf(theme: "light" | "dark", tokens: string, drawing: string): string {
  const used = new Set([...drawing.matchAll(/var\((--[\w-]+)\)/g)].map(([, name = ""]) => name));
  return [...tokens.matchAll(/(--[\w-]+): light-dark\((#\w+), (#\w+)\);/g)]
    .filter(([, name = ""]) => used.has(name) || name === "--color-bad" || name === "--color-ink-2")
    .map(([, name = "", light = "", dark = ""]) => `${name}:${theme === "light" ? light : dark}`)
    .join(";");
}
