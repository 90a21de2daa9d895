// Where each document's page lies: beside its pictures, as in docs/, so that what they link to by relative paths stays true.

import { posix } from "node:path";

/** Documents outside of docs/, and their pages. */
export const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["ARCHITECTURE.md", "architecture.html"],
  ["CHANGELOG.md", "changelog.html"],
  ["CONTRIBUTING.md", "contributing.html"],
  ["SECURITY.md", "security.html"],
  ["examples/README.md", "examples.html"],
  ["shaders/README.md", "kernel-rules.html"],
  ["public/models/chorus-chat/README.md", "embedded-model.html"],
  ["lab/peers/README.md", "benchmarks/peers-method.html"],
]);
/** The folder of docs/ in which Eleventy sees them. There is none. */
const SEEN_IN = "elsewhere/";

/** Returns the path in docs/ at which Eleventy is to see a document from elsewhere. */
export const seenAs = (source: string): string => SEEN_IN + source;

/** Returns a document's path in the repository, from the one that Eleventy has. */
export function sourceOf(inputPath: string): string {
  const path = posix.normalize(inputPath);
  const folder = `docs/${SEEN_IN}`;
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}

/** Returns a document's page, relative to the folder of all pages. */
export function outputOf(source: string): string {
  const page = ELSEWHERE.get(source);
  if (page !== undefined) return page;
  return posix
    .relative("docs", source)
    .replace(/README\.md$/, "index.html")
    .replace(/\.md$/, ".html");
}

/**
 * Returns the address that a link of one document has in its page, and the file beside the pages that it needs, if any.
 * Throws if the link leads out of the documents: nobody could follow it there.
 */
export function linkFrom(source: string, link: string): { readonly href: string; readonly file: string | null } {
  if (/^(?:[a-z]+:|#)/.test(link)) return { href: link, file: null };
  const [path = "", ...anchor] = link.split("#");
  const target = posix.join(posix.dirname(source), path);
  const document = target.endsWith("/") ? `${target}README.md` : target;
  const isPage = document.endsWith(".md") && (document.startsWith("docs/") || ELSEWHERE.has(document));
  if (!isPage && !target.startsWith("docs/")) throw new Error(`${source} links to ${link}, which has no page.`);
  const output = isPage ? outputOf(document) : posix.relative("docs", target);
  const href = [posix.relative(posix.dirname(outputOf(source)), output), ...anchor].join("#");
  return { href, file: isPage ? null : target };
}
