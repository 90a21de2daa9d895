import { posix } from "node:path";

import { CONTENT_SECURITY_POLICY } from "../plugins/security-policy-plugin.ts";
import type { Group } from "./contents.ts";
import { outputOf } from "./page-paths.ts";

/**
 * Returns a whole page.
 *
 * @param body the rendered document
 * @param output its path in the folder of all pages
 */
export function pageHtml(body: string, output: string, contents: readonly Group[]): string {
  const toRoot = posix.relative(posix.dirname(output), "") || ".";
  const title = /<h1[^>]*>(.*?)<\/h1>/s.exec(body)?.[1]?.replaceAll(/<[^>]+>/g, "") ?? "Documents";
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="${toRoot}/look/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${toRoot}/look/tokens.css" />
    <link rel="stylesheet" href="${toRoot}/look/docs.css" />
    <script src="${toRoot}/look/theme.js"></script>
    <title>${title} · Chorus</title>
  </head>
  <body>
    <a class="skip" href="#text">To the text</a>
    <header>
      <a class="brand" href="${toRoot}/index.html"><img src="${toRoot}/look/icon.svg" alt="" />Chorus</a>
      <a class="to-contents" href="#contents">Contents</a>
      <a href="${toRoot}/search.html">Search</a>
      <a href="${toRoot}/../">The app</a>
    </header>
    <div class="columns">
      <main id="text">
${body}
      </main>
      <nav id="contents" aria-label="Documents">
${contents.map((group) => groupHtml(group, output, headingsOf(body))).join("\n")}
      </nav>
    </div>
  </body>
</html>
`;
}

interface Heading {
  readonly id: string;
  readonly html: string;
}

function groupHtml({ title, entries }: Group, output: string, headings: readonly Heading[]): string {
  const items = entries.map(({ source, name, question }) => {
    const page = outputOf(source);
    const isHere = page === output;
    const href = posix.relative(posix.dirname(output), page);
    const link = `<a href="${href}" title="${question.replaceAll('"', "&quot;")}"${isHere ? ' aria-current="page"' : ""}>${name}</a>`;
    const parts = headings.map(({ id, html }) => `<li><a href="#${id}">${html}</a></li>`).join("");
    return `<li>${link}${isHere && parts ? `<ul>${parts}</ul>` : ""}</li>`;
  });
  return `        <h2>${title}</h2>\n        <ul>${items.join("")}</ul>`;
}

function headingsOf(body: string): readonly Heading[] {
  return [...body.matchAll(/<h2 id="([^"]*)">(.*?)<\/h2>/gs)].map(([, id = "", html = ""]) => ({
    id,
    // A link in a heading would be a link in a link.
    html: html.replaceAll(/<\/?a[^>]*>/g, ""),
  }));
}
