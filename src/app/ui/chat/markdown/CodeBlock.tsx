import { type ReactNode, useEffect, useMemo } from "react";
import { useStore } from "zustand";
import { SCROLLS } from "../../components/scrolls.ts";
import { CopyButton } from "../CopyButton.tsx";
import { coloursOf, languageOf } from "./code-languages.ts";

/** Code in its language's colours; plain until these are loaded, and without a word where the network is gone. */
export function CodeBlock({ code, language, caret }: { code: string; language: string; caret: ReactNode }) {
  const known = isPlain(code) ? null : languageOf(language);
  const isLong = caret !== null && code.length > MAX_GROWING_LENGTH;
  const end = isLong ? code.lastIndexOf("\n", MAX_GROWING_LENGTH) + 1 : code.length;
  return (
    <div className="rounded-md border border-line bg-surface-2" dir="ltr">
      <div className="row small h-8 justify-between pr-0.5 pl-3">
        <span>{language}</span>
        <CopyButton text={code} name="Copy code" />
      </div>
      <pre {...SCROLLS} className="overflow-x-auto px-3 pb-2.5 [overflow-wrap:normal] whitespace-pre">
        <code>
          {known === null ? code : <Coloured code={code.slice(0, end)} colours={coloursOf(known)} />}
          {known !== null && code.slice(end)}
        </code>
        {caret}
      </pre>
    </div>
  );
}

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
