import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import { anchorOf } from "../src/app/ui/docs/documents.ts";
import { root } from "./run-command.mjs";

const FOLDERS = ["docs", "examples", "public", "shaders", "tools", "lab", "tests"];
const pages = [
  ...readdirSync(root),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, String(path))),
  ),
].filter((path) => path.endsWith(".md") && !path.includes("node_modules"));

it("every link of the documents leads to a file, and to a heading of it", () => {
  expect(pages).toContain("README.md");
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
      ([, link, source]) => link ?? source ?? "",
    );
    return links
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = "", anchor] = link.split("#");
        const target = path === "" ? page : join(dirname(page), path);
        if (!existsSync(join(root, target))) return true;
        if (anchor === undefined || !target.endsWith(".md")) return false;
        const headings = [...readFileSync(join(root, target), "utf8").matchAll(/^#+ (.*)$/gm)];
        return !headings.some(([, heading = ""]) => anchorOf(heading) === anchor);
      })
      .map((link) => `${page}: ${link}`);
  });
  expect(broken).toEqual([]);
});
