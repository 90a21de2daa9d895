import type { LanguageFn } from "highlight.js";
import { lateLibrary } from "./late-library.ts";

/** Each language's grammar is a file of its own. */
const GRAMMARS = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  dart: () => import("highlight.js/lib/languages/dart"),
  diff: () => import("highlight.js/lib/languages/diff"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  go: () => import("highlight.js/lib/languages/go"),
  haskell: () => import("highlight.js/lib/languages/haskell"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  latex: () => import("highlight.js/lib/languages/latex"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  perl: () => import("highlight.js/lib/languages/perl"),
  php: () => import("highlight.js/lib/languages/php"),
  powershell: () => import("highlight.js/lib/languages/powershell"),
  python: () => import("highlight.js/lib/languages/python"),
  r: () => import("highlight.js/lib/languages/r"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  scala: () => import("highlight.js/lib/languages/scala"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
} satisfies Record<string, () => Promise<{ default: LanguageFn }>>;
type Language = keyof typeof GRAMMARS;

/** Other names that stand behind fences. */
const ALIASES: Readonly<Record<string, Language>> = {
  "c#": "csharp",
  "c++": "cpp",
  cc: "cpp",
  console: "bash",
  cs: "csharp",
  docker: "dockerfile",
  golang: "go",
  h: "c",
  hpp: "cpp",
  hs: "haskell",
  htm: "xml",
  html: "xml",
  js: "javascript",
  json5: "json",
  jsonc: "json",
  jsx: "javascript",
  kt: "kotlin",
  make: "makefile",
  md: "markdown",
  mjs: "javascript",
  patch: "diff",
  pl: "perl",
  ps1: "powershell",
  py: "python",
  python3: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svg: "xml",
  tex: "latex",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  vue: "xml",
  yml: "yaml",
  zsh: "bash",
};

const isLanguage = (name: string): name is Language => Object.hasOwn(GRAMMARS, name);

/** Returns the language that a fence names; null if it has no colours. */
export function languageOf(fence: string): Language | null {
  const [name = ""] = fence
    .trim()
    .toLowerCase()
    .split(/[\s,{:]/, 1);
  if (isLanguage(name)) return name;
  return Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? null) : null;
}

const loading = new Map<Language, ReturnType<typeof lateColours>>();

/** Returns what finds the parts of a language's code. The same for each call. */
export function coloursOf(language: Language): ReturnType<typeof lateColours> {
  const known = loading.get(language) ?? lateColours(language);
  loading.set(language, known);
  return known;
}

function lateColours(language: Language) {
  return lateLibrary(async () => {
    const [{ createLowlight }, { default: grammar }] = await Promise.all([
      import("./lowlight.ts"),
      GRAMMARS[language](),
    ]);
    const lowlight = createLowlight({ [language]: grammar });
    return { parts: (code: string) => lowlight.highlight(language, code).children };
  });
}
