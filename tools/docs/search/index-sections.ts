// What the search of the documents looks through: each page in the contents, by its headings.

import type { Section } from "./find-sections.js";

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };

/** Returns the sections of a page: the text from each heading to the next. @param body the rendered document */
export function sectionsOf(body: string, page: string): readonly Section[] {
  const title = textOf(/<h1[^>]*>(.*?)<\/h1>/s.exec(body)?.[1] ?? "");
  return body
    .split(/(?=<h[1-4] id=")/)
    .map((part) => {
      const [whole = "", level, anchor = "", heading = ""] = /^<h([1-4]) id="([^"]*)">(.*?)<\/h\1>/s.exec(part) ?? [];
      const href = level === undefined || level === "1" ? page : `${page}#${anchor}`;
      return { href, title, heading: textOf(heading), text: textOf(part.slice(whole.length)) };
    })
    .filter(({ text }) => text !== "");
}

function textOf(html: string): string {
  return html
    .replaceAll(/<\/?(?:p|li|td|th|tr|pre|h\d)\b[^>]*>/g, " ")
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replaceAll(/\s+/g, " ")
    .trim();
}
