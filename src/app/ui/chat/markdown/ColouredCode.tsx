import { useEffect, useMemo, type ReactNode } from "react";
import { useStore } from "../../use-store.ts";
import { coloursOf, languageOf } from "./code-languages.ts";

type Library = ReturnType<ReturnType<typeof coloursOf>["store"]["getState"]>["library"];
type Part = ReturnType<NonNullable<Library>["parts"]>[number];

/** Longer code stays plain, as does one with longer lines: highlight.js's time can grow with the square. */
const MAX_LENGTH = 10_000;
const MAX_LINE_LENGTH = 500;
/** What grows behind this is plain until its end: all would be read again with each word. */
const MAX_GROWING_LENGTH = 3_000;

/** Which parts have which colour, by highlight.js's classes. All others are ink. */
const COLOURS: readonly (readonly [className: string, parts: ReadonlySet<string>])[] = [
  [
    "text-(--v1)",
    new Set(["keyword", "doctag", "meta", "selector-tag", "selector-id", "selector-class", "name", "tag"]),
  ],
  ["text-good", new Set(["string", "regexp", "quote", "addition", "link", "char"])],
  ["text-warn", new Set(["number", "literal", "symbol", "bullet", "variable", "template-variable", "deletion"])],
  ["text-ink-3 italic", new Set(["comment"])],
  ["text-(--v6)", new Set(["title", "section", "type", "built_in", "attr", "attribute", "property"])],
];

interface ColouredCodeProps {
  code: string;
  /** What stands behind the fence. */
  language: string;
  isGrowing: boolean;
}

/** Code in its language's colours; plain until the language is loaded, and without a word where the network is gone: all can be read. */
export function ColouredCode({ code, language, isGrowing }: ColouredCodeProps) {
  const known = isPlain(code) ? null : languageOf(language);
  const end =
    isGrowing && code.length > MAX_GROWING_LENGTH ? code.lastIndexOf("\n", MAX_GROWING_LENGTH) + 1 : code.length;
  return (
    <code>
      {known === null ? code : <Coloured code={code.slice(0, end)} colours={coloursOf(known)} />}
      {known !== null && code.slice(end)}
    </code>
  );
}

function isPlain(code: string): boolean {
  return code.length > MAX_LENGTH || code.split("\n").some((line) => line.length > MAX_LINE_LENGTH);
}

function Coloured({ code, colours }: { code: string; colours: ReturnType<typeof coloursOf> }) {
  const { library } = useStore(colours.store);
  useEffect(() => {
    void colours.load();
  }, [colours]);
  return useMemo(() => library?.parts(code).map(element) ?? code, [library, code]);
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
