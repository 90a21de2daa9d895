/** A page in the contents: its source, its short name, and the question that it answers. */
export interface Entry {
  readonly source: string;
  readonly name: string;
  readonly question: string;
}

export interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** Reads the contents out of docs/README.md: headings, and below each a list of "[name](page.md): question". */
export function readContents(markdown: string): readonly Group[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf("\n")).trim(),
      entries: [...part.matchAll(/^- \[([^\]]+)\]\(([^)]+)\): (.+)$/gm)].map(
        ([, name = "", link = "", question = ""]) => ({
          source: link.startsWith("../") ? link.slice(3) : `docs/${link}`,
          name,
          question,
        }),
      ),
    }));
}
