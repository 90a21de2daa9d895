// Builds the documents into static pages: docs/*.md, and the few documents that lie elsewhere. Eleventy renders them, since
// it adds nothing of its own: no scripts, no styles, nothing that the app's Content-Security-Policy forbids.

import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { Eleventy, type PageContext, type UserConfig } from "@11ty/eleventy";

import { root } from "../run-command.mjs";
import { readContents } from "./contents.ts";
import { amendMarkdown, type MarkdownIt } from "./markdown.ts";
import { pageHtml } from "./page-html.ts";
import { ELSEWHERE, outputOf, seenAs, sourceOf } from "./page-paths.ts";

/** Files that give the pages their look, by their names there. */
const LOOK = {
  "tokens.css": "src/ui/tokens.css",
  "icon.svg": "public/icon.svg",
  "docs.css": "tools/docs/docs.css",
  "theme.js": "tools/docs/theme.js",
};

/** Writes all pages into `folder`, with what they show and link to. The working directory must be the repository's root. */
export async function buildDocs(folder: string): Promise<void> {
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const contents = readContents(read("docs/README.md"));
  const files = new Map(Object.entries(LOOK).map(([name, path]) => [join("look", name), path]));
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
      return pageHtml(content, pageOf(this), contents);
    });
  };
  const eleventy = new Eleventy("docs", relative(root, folder), { configPath: false, quietMode: true, config });
  // It reports on success, too. Errors are thrown.
  eleventy.disableLogger();
  await eleventy.write();
  for (const [output, path] of files) {
    const target = join(folder, output);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, path), target);
  }
}
