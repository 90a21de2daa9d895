import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { docsUrl, LINKED_DOCS } from "../../src/app/ui/components/DocsLink.tsx";
import { CONTENT_SECURITY_POLICY } from "../plugins/security-policy-plugin.ts";
import { root } from "../run-command.mjs";
import { buildDocs } from "./build-docs.ts";
import { readContents } from "./contents.ts";
import { readTypes } from "./reference/read-types.ts";
import { linkFrom } from "./page-paths.ts";
import { findSections, type Section } from "./search/find-sections.js";

let folder: string;
let files: readonly string[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "chorus-docs-"));
  await buildDocs(folder);
  files = readdirSync(folder, { recursive: true }).map((path) => String(path).replaceAll("\\", "/"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pages = () => files.filter((path) => path.endsWith(".html"));
const read = (path: string) => readFileSync(join(folder, path), "utf8");

describe("the documents' pages", () => {
  it("hold every document of docs/, and each is in the contents", () => {
    const documents = readdirSync(join(root, "docs"), { recursive: true })
      .map((path) => posix.join("docs", String(path).replaceAll("\\", "/")))
      .filter((path) => path.endsWith(".md"));
    const output = (path: string) =>
      posix.relative("docs", path).replace("README.md", "index.html").replace(".md", ".html");
    expect(pages()).toEqual(expect.arrayContaining(documents.map(output)));
    const entries = readContents(readFileSync(join(root, "docs/README.md"), "utf8")).flatMap((group) => group.entries);
    const questions = documents.filter((path) => !/README\.md$|^docs\/benchmarks\//.test(path));
    expect(entries.map(({ source }) => source)).toEqual(expect.arrayContaining(questions));
    expect(questions.length).toBeGreaterThan(5);
  });

  it("name the column of each cell that a narrow page shows below the others, as screen readers do", () => {
    const reference = read("reference.html");
    const row = /<tr role="row">\s*<td role="cell" id="maxNumSeqs">.*?<\/tr>/s.exec(reference)?.[0] ?? "";
    const labels = [...row.matchAll(/data-label="([^"]*)" role="cell"/g)].map(([, label]) => label);
    expect(labels).toEqual(["type", "default", "unit", "what it does"]);
    // Tables of figures scroll.
    expect(read("benchmarks/loop.html")).not.toContain("data-label");
  });

  it("lead everywhere: each link and picture is there, with its anchor", () => {
    const broken = pages().flatMap((page) => {
      const links = [...read(page).matchAll(/ (?:href|src|srcset)="([^"]*)"/g)].map(([, link = ""]) => link);
      expect(links.length).toBeGreaterThan(10);
      return links
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [path = "", anchor] = link.split("#");
          const target = path === "" ? page : posix.join(posix.dirname(page), path);
          // The app's folder, whose page is none of these.
          if (target === "../") return false;
          if (!files.includes(target)) return true;
          return anchor !== undefined && !read(target).includes(` id="${anchor}"`);
        })
        .map((link) => `${page}: ${link}`);
    });
    expect(broken).toEqual([]);
  });

  it("have each name once: the first heading's is as on GitHub, the next are numbered", () => {
    for (const page of pages()) {
      const names = [...read(page).matchAll(/ id="([^"]*)"/g)].map(([, name = ""]) => name);
      expect(
        names.filter((name, i) => names.indexOf(name) < i),
        page,
      ).toEqual([]);
    }
    const repeated = read("benchmarks/gpu-emulated.html");
    expect(repeated).toMatch(/<h3 id="decode"[^]*<h3 id="decode-1"/);
    expect(read("reference.html")).toMatch(/<h\d id="alerts"/);
  });

  it("are there where the app links to them", () => {
    expect(files).toEqual(expect.arrayContaining(LINKED_DOCS.map((page) => posix.relative("docs", docsUrl(page)))));
    const troubleshooting = read("troubleshooting.html");
    // Errors link to the row of their code.
    const { aliases } = readTypes([readFileSync(join(root, "src/protocol/errors.ts"), "utf8")]);
    const codes = [...(aliases.get("ChorusErrorCode") ?? "").matchAll(/"(\w+)"/g)].map(([, code]) => code);
    expect(codes.filter((code) => !troubleshooting.includes(`<td role="cell" id="${code}">`))).toEqual([]);
    expect(codes).toContain("out_of_memory");
  });

  it("have the app's policy, and nothing that it forbids", () => {
    for (const page of pages()) {
      const html = read(page);
      expect(html).toContain(`http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}"`);
      expect(html).not.toMatch(
        /<style|<[^>]+ (?:style|on[a-z]+)=|<script(?! (?:type="module" )?src="[./]*look\/\w+\.js"><\/script>)/,
      );
    }
  });

  it("can be searched: each section leads to its heading", () => {
    const sections = JSON.parse(read("look/sections.json")) as readonly Section[];
    const lost = sections.filter(({ href }) => {
      const [page = "", anchor] = href.split("#");
      return !files.includes(page) || (anchor !== undefined && !read(page).includes(` id="${anchor}"`));
    });
    expect(lost).toEqual([]);
    for (const { title, text } of sections) {
      expect(title).not.toBe("");
      expect(text).not.toMatch(/<\/(?:a|code|li|p|td)>|&(?:amp|lt|gt|quot);/);
    }
    const best = (query: string) => findSections(sections, query)[0]?.href;
    expect(best("out_of_memory")).toMatch(/^troubleshooting\.html/);
    expect(best("nginx")).toMatch(/^(?:hosting|serve\/index)\.html/);
    expect(best("batching mode")).toBe("tuning.html#batching-mode");
  });

  it("name a link that leads out of them", () => {
    expect(() => linkFrom("docs/library.md", "../src/index.ts")).toThrow(
      "docs/library.md links to ../src/index.ts, which has no page.",
    );
    expect(linkFrom("docs/library.md", "../shaders/README.md#head").href).toBe("kernel-rules.html#head");
    expect(linkFrom("docs/serve/README.md", "nginx.conf")).toEqual({
      href: "nginx.conf",
      file: "docs/serve/nginx.conf",
    });
  });
});
