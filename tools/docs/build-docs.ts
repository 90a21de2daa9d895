// Builds the documents into static pages: docs/*.md, and the few documents that lie elsewhere. Eleventy renders them, since
// it adds nothing of its own: no scripts, no styles, nothing that the app's Content-Security-Policy forbids.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { Eleventy, type PageContext, type UserConfig } from "@11ty/eleventy";

import { root } from "../run-command.mjs";
import { readContents } from "./contents.ts";
import { amendMarkdown, type MarkdownIt } from "./markdown.ts";
import { pageHtml } from "./page-html.ts";
import { ELSEWHERE, outputOf, seenAs, sourceOf } from "./page-paths.ts";
import type { Section } from "./search/find-sections.js";
import { sectionsOf } from "./search/index-sections.ts";
import { SEARCH_BODY } from "./search/search-page.ts";

/** Files that all pages share, by their names there. */
const LOOK = {
  "tokens.css": "src/app/ui/tokens.css",
  "icon.svg": "public/icon.svg",
  "docs.css": "tools/docs/docs.css",
  "theme.js": "tools/docs/theme.js",
  "search.js": "tools/docs/search/search.js",
  "find-sections.js": "tools/docs/search/find-sections.js",
};

/** Writes all pages into `folder`, with what they show and link to. The working directory must be the repository's root. */
export async function buildDocs(folder: string): Promise<void> {
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const contents = readContents(read("docs/README.md"));
  const files = new Map(Object.entries(LOOK).map(([name, path]) => [join("look", name), path]));
  const listed = contents.flatMap(({ entries }) => entries.map(({ source }) => outputOf(source)));
  const sections = new Map<string, readonly Section[]>();
  const pageOf = ({ page }: PageContext) => outputOf(sourceOf(page.inputPath));

  const config = (eleventy: UserConfig) => {
    eleventy.setTemplateFormats(["md"]);
    eleventy.setUseGitIgnore(false);
    // Plain Markdown: braces mean nothing.
    eleventy.addGlobalData("templateEngineOverride", "md");
    eleventy.addGlobalData("eleventyComputed.permalink", () => pageOf);
    for (const source of ELSEWHERE.keys()) eleventy.addTemplate(seenAs(source), read(source));
    eleventy.amendLibrary("md", (markdown: MarkdownIt) =>
      amendMarkdown(markdown, (file) => void files.set(relative("docs", file), file)),
    );
    eleventy.addTransform("page", function (content) {
      const output = pageOf(this);
      sections.set(output, sectionsOf(content, output));
      return pageHtml(content, output, contents);
    });
  };
  const eleventy = new Eleventy("docs", relative(root, folder), { configPath: false, quietMode: true, config });
  // It reports on success, too. Errors are thrown.
  eleventy.disableLogger();
  await eleventy.write();
  writeFileSync(join(folder, "search.html"), pageHtml(SEARCH_BODY, "search.html", contents));
  for (const [output, path] of files) {
    const target = join(folder, output);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, path), target);
  }
  // In the order of the contents: of sections that match alike, the first comes first.
  const searched = listed.flatMap((page) => sections.get(page) ?? []);
  writeFileSync(join(folder, "look/sections.json"), JSON.stringify(searched));
}
