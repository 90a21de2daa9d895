import { readdirSync, readFileSync } from "node:fs";
import { marked } from "marked";
import { describe, expect, it } from "vitest";

import { LINKED_DOCS } from "../components/DocsLink.tsx";
import { addressIn, documents, pathOf, sectionOf } from "./documents.ts";

const read = (path: string) => readFileSync(`.${path}`, "utf8");

/** Returns the links and pictures of a document. */
function linksOf(path: string): readonly string[] {
  const links: string[] = [];
  void marked.walkTokens(marked.lexer(read(path)), (token) => {
    if (token.type === "link" || token.type === "image") links.push(String(token["href"]));
  });
  return links;
}

describe("the documents in the app", () => {
  it("are all of docs/, and each question is in the contents", () => {
    const files = readdirSync("docs", { recursive: true }).map((path) => `/docs/${String(path).replaceAll("\\", "/")}`);
    const own = files.filter((path) => path.endsWith(".md"));
    expect(Object.keys(documents)).toEqual(expect.arrayContaining(own));
    const contents = linksOf("/docs/README.md").map((link) => addressIn("/docs/README.md", link));
    const questions = own.filter((path) => !/README\.md$|^\/docs\/(?:benchmarks|internals)\//.test(path));
    expect(contents).toEqual(expect.arrayContaining(questions.map((path) => `#/docs/${path.slice(6, -3)}`)));
    expect(questions.length).toBeGreaterThan(5);
  });

  it("lead to each other, and show every picture", () => {
    const lost = Object.keys(documents).flatMap((path) =>
      linksOf(path)
        .filter((link) => /\.(?:md|png|svg)(?:#|$)/.test(link) && addressIn(path, link) === null)
        .map((link) => `${path}: ${link}`),
    );
    // Vite imports nothing from public/.
    expect(lost).toEqual(["/docs/models.md: ../public/models/chorus-chat/README.md"]);
  });

  it("are found by the addresses that links to them have", () => {
    for (const path of Object.keys(documents)) {
      const name = /^#\/docs\/([^?]*)/.exec(addressIn("/docs/README.md", path) ?? "")?.[1] ?? "";
      expect(pathOf(name)).toBe(path);
    }
    for (const name of LINKED_DOCS) expect(pathOf(name)).toBe(`/docs/${name}.md`);
    expect(pathOf("")).toBe("/docs/README.md");
    expect(pathOf("none")).toBeUndefined();
  });

  it("have addresses for what the app has, and none for other files", () => {
    expect(addressIn("/docs/tuning.md", "#the-cache")).toBe("#/docs/tuning?at=the-cache");
    expect(addressIn("/docs/tuning.md", "serve/README.md#ray-serve")).toBe("#/docs/serve/README?at=ray-serve");
    expect(addressIn("/docs/tuning.md", "benchmarks/")).toBe("#/docs/benchmarks/README");
    expect(addressIn("/docs/tuning.md", "../ARCHITECTURE.md")).toBe("#/docs/ARCHITECTURE");
    expect(addressIn("/docs/serve/README.md", "nginx.conf")).toBeNull();
    expect(addressIn("/docs/tuning.md", "https://example.org/a")).toBe("https://example.org/a");
  });

  it("have the remedies by browser, which the page of an unsupported browser shows", () => {
    const remedies = sectionOf(read("/docs/troubleshooting.md"), "a-browser-without-webgpu");
    for (const words of ["## A browser without WebGPU", "https://", "graphics driver", "dom.webgpu.enabled", "Safari"])
      expect(remedies).toContain(words);
    expect(remedies).not.toContain("## A request or an option");
  });
});
