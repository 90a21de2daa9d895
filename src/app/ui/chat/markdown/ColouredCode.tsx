import { useEffect, useMemo, type ReactNode } from "react";
import { useStore } from "../../use-store.ts";
import { coloursOf, languageOf } from "./code-languages.ts";
import css from "./Markdown.module.css";

type Library = ReturnType<ReturnType<typeof coloursOf>["store"]["getState"]>;
type Part = ReturnType<Exclude<Library, null | "missing">["parts"]>[number];

/** Longer code stays plain: it is read again with each word that comes, and drawn as thousands of elements. */
const MAX_LENGTH = 20_000;

/** Which parts have which colour, by highlight.js's classes. All others are ink. */
const COLOURS: readonly (readonly [className: string | undefined, parts: ReadonlySet<string>])[] = [
  [css.keyword, new Set(["keyword", "doctag", "meta", "selector-tag", "selector-id", "selector-class", "name", "tag"])],
  [css.string, new Set(["string", "regexp", "quote", "addition", "link", "char"])],
  [css.number, new Set(["number", "literal", "symbol", "bullet", "variable", "template-variable", "deletion"])],
  [css.comment, new Set(["comment"])],
  [css.title, new Set(["title", "section", "type", "built_in", "attr", "attribute", "property"])],
];

/** Code in its language's colours; plain until the language is loaded. */
export function ColouredCode({ code, language }: { code: string; language: string }) {
  const known = code.length > MAX_LENGTH ? null : languageOf(language);
  return <code>{known === null ? code : <Coloured code={code} colours={coloursOf(known)} />}</code>;
}

function Coloured({ code, colours }: { code: string; colours: ReturnType<typeof coloursOf> }) {
  const library = useStore(colours.store);
  useEffect(() => {
    colours.load();
  }, [colours]);
  return useMemo(
    () => (library === null || library === "missing" ? code : library.parts(code).map(element)),
    [library, code],
  );
}

function element(part: Part, index: number): ReactNode {
  if (part.type === "text") return part.value;
  if (part.type !== "element") return null;
  const names = part.properties["className"];
  const name = Array.isArray(names) ? String(names[0]) : "";
  const kind = name.replace("hljs-", "");
  const [className] = COLOURS.find(([, parts]) => parts.has(kind)) ?? [];
  return (
    <span key={index} className={className}>
      {part.children.map(element)}
    </span>
  );
}
