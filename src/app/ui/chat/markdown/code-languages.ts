import { importWithRetry } from "../../../import-with-retry.ts";
import type { LanguageFn } from "highlight.js";
import { lazyLibrary } from "../../lazy-library.ts";

/** Each language's grammar is a file of its own. */
const GRAMMARS = import.meta.glob<{ default: LanguageFn }>(
  "/node_modules/highlight.js/es/languages/{bash,c,cpp,csharp,css,dart,diff,dockerfile,go,haskell,ini,java,javascript,json,kotlin,latex,lua,makefile,markdown,perl,php,powershell,python,r,ruby,rust,scala,sql,swift,typescript,xml,yaml}.js",
);
const fileOf = (language: string) => GRAMMARS[`/node_modules/highlight.js/es/languages/${language}.js`];

/** Other names that stand behind fences. */
const ALIASES: readonly (readonly [language: string, names: readonly string[]])[] = [
  ["bash", ["console", "sh", "shell", "zsh"]],
  ["c", ["h"]],
  ["cpp", ["c++", "cc", "hpp"]],
  ["csharp", ["c#", "cs"]],
  ["diff", ["patch"]],
  ["dockerfile", ["docker"]],
  ["go", ["golang"]],
  ["haskell", ["hs"]],
  ["ini", ["toml"]],
  ["javascript", ["js", "jsx", "mjs"]],
  ["json", ["json5", "jsonc"]],
  ["kotlin", ["kt"]],
  ["latex", ["tex"]],
  ["makefile", ["make"]],
  ["markdown", ["md"]],
  ["perl", ["pl"]],
  ["powershell", ["ps1"]],
  ["python", ["py", "python3"]],
  ["ruby", ["rb"]],
  ["rust", ["rs"]],
  ["typescript", ["ts", "tsx"]],
  ["xml", ["htm", "html", "svg", "vue"]],
  ["yaml", ["yml"]],
];

/** Returns the language that a fence names; null if it has no colours. */
export function languageOf(fence: string): string | null {
  const [name = ""] = fence
    .trim()
    .toLowerCase()
    .split(/[\s,{:]/, 1);
  const [language] = ALIASES.find(([, names]) => names.includes(name)) ?? [name];
  return fileOf(language) ? language : null;
}

const loading = new Map<string, ReturnType<typeof lazyColours>>();

/** Returns what finds the parts of a language's code. The same for each call. */
export function coloursOf(language: string): ReturnType<typeof lazyColours> {
  const known = loading.get(language) ?? lazyColours(language);
  loading.set(language, known);
  return known;
}

function lazyColours(language: string) {
  const file = fileOf(language);
  return lazyLibrary(async () => {
    const [{ createLowlight }, grammar] = await Promise.all([
      importWithRetry(() => import("./lowlight.ts")),
      file && importWithRetry(file),
    ]);
    const lowlight = createLowlight(grammar && { [language]: grammar.default });
    return { parts: (code: string) => lowlight.highlight(language, code).children };
  });
}
