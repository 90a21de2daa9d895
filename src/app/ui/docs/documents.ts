// The documents of the repository, by their paths in it ("/docs/tuning.md"). A document's name is its path without "docs/" and
// ".md"; its page in the app is #/docs/NAME, with ?at=ANCHOR for a heading, or for a row of a table that begins with a code.

export const documents = import.meta.glob<string>(
  ["/{docs,examples,shaders,lab}/**/*.md", "/{ARCHITECTURE,CHANGELOG,CONTRIBUTING,SECURITY}.md"],
  { query: "?url&no-inline", import: "default", eager: true },
);
const pictures = import.meta.glob<string>("/docs/**/*.{png,svg}", {
  query: "?url&no-inline",
  import: "default",
  eager: true,
});

export function pathOf(name: string): string | undefined {
  return [`/docs/${name || "README"}.md`, `/${name}.md`].find((path) => path in documents);
}

/** Returns the address of a document's link or picture; null if the app doesn't have it. */
export function addressIn(path: string, link: string): string | null {
  if (/^[a-z]+:/.test(link)) return link;
  const { pathname, hash } = new URL(link, `file://${path}`);
  const target = pathname.endsWith("/") ? `${pathname}README.md` : pathname;
  if (!(target in documents)) return pictures[target] ?? null;
  return `#/docs/${target.replace(/^\/(?:docs\/)?/, "").replace(/\.md$/, "")}${hash && `?at=${hash.slice(1)}`}`;
}

/** Returns what stands under the heading of the second level with this anchor, heading included; undefined if there is none. */
export function sectionOf(text: string, anchor: string): string | undefined {
  return text.split(/^(?=## )/m).find((part) => anchorOf(part.split("\n", 1)[0]?.slice(3) ?? "") === anchor);
}

/** Returns the anchor of a Markdown heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
