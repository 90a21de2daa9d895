import { Fragment, type ReactNode } from "react";
import type { Token, Tokens } from "marked";
import { CodeBlock } from "./CodeBlock.tsx";
import { Formula } from "./Formula.tsx";
import { Inline } from "./Inline.tsx";
import type { MathToken } from "./math-tokens.ts";

/** The block tokens of marked. */
type Known =
  | Tokens.Blockquote
  | Tokens.Code
  | Tokens.HTML
  | Tokens.Heading
  | Tokens.Hr
  | Tokens.List
  | MathToken
  | Tokens.Paragraph
  | Tokens.Table
  | Tokens.Text;

interface BlockTokenProps {
  token: Token;
  /** Shown at the end of the block's text. */
  caret?: ReactNode;
  /** auto: by its first letter, on blocks of their own. Blocks in a block have its direction. */
  dir?: "auto" | undefined;
  /** The level of a heading in the page. [null: not a heading, as in a list] */
  level?: number | null;
}

export function BlockToken({ token, caret = null, dir, level = null }: BlockTokenProps) {
  const known = token as Known;
  switch (known.type) {
    case "heading":
      return <Heading token={known} caret={caret} dir={dir} level={level} />;
    case "code":
      return <CodeBlock code={known.text} language={known.lang ?? ""} caret={caret} />;
    case "blockquote":
      return (
        <blockquote dir={dir}>
          <Blocks tokens={known.tokens} caret={caret} />
        </blockquote>
      );
    case "list":
      return <List token={known} caret={caret} dir={dir} />;
    case "table":
      return <Table token={known} caret={caret} dir={dir} />;
    case "math":
    case "hr":
      return (
        <>
          {known.type === "hr" ? <hr /> : <Formula tex={known.text} isDisplay />}
          {caret && <p>{caret}</p>}
        </>
      );
    case "paragraph":
      return (
        <p dir={dir}>
          <Inline tokens={known.tokens} />
          {caret}
        </p>
      );
    case "text":
      return (
        <>
          {known.tokens ? <Inline tokens={known.tokens} /> : known.text}
          {caret}
        </>
      );
    // HTML is shown as text.
    case "html":
    default:
      return (
        <p dir={dir}>
          {token.raw.trimEnd()}
          {caret}
        </p>
      );
  }
}

function Blocks({ tokens, caret }: { tokens: readonly Token[]; caret: ReactNode }) {
  const seen = tokens.filter(({ type }) => type !== "space" && type !== "def" && type !== "checkbox");
  if (seen.length === 0) return caret;
  return seen.map((token, index) => (
    // oxlint-disable-next-line react/no-array-index-key
    <BlockToken key={index} token={token} caret={index === seen.length - 1 ? caret : null} />
  ));
}

interface BlockOf<One extends Token> {
  token: One;
  caret: ReactNode;
  dir: "auto" | undefined;
}

function Heading({ token, caret, dir, level }: BlockOf<Tokens.Heading> & { level: number | null }) {
  const Tag = level === 2 ? "h2" : level === 3 ? "h3" : level === 4 ? "h4" : level === null ? "p" : "h5";
  const Words = level === null ? "strong" : Fragment;
  return (
    <Tag dir={dir}>
      <Words>
        <Inline tokens={token.tokens} />
        {caret}
      </Words>
    </Tag>
  );
}

function List({ token, caret, dir }: BlockOf<Tokens.List>) {
  const items = token.items.map((item, index) => (
    // oxlint-disable-next-line react/no-array-index-key
    <li key={index}>
      {item.task && (
        <input type="checkbox" checked={item.checked ?? false} disabled aria-label={item.checked ? "Done" : "To do"} />
      )}
      <Blocks tokens={item.tokens} caret={index === token.items.length - 1 ? caret : null} />
    </li>
  ));
  return token.ordered ? (
    <ol dir={dir} start={Number(token.start) || 1}>
      {items}
    </ol>
  ) : (
    <ul dir={dir}>{items}</ul>
  );
}

function Table({ token, caret, dir }: BlockOf<Tokens.Table>) {
  const cells = (row: readonly Tokens.TableCell[], Tag: "th" | "td") =>
    row.map((cell, index) => (
      // oxlint-disable-next-line react/no-array-index-key
      <Tag key={index} style={{ textAlign: cell.align ?? undefined }}>
        <Inline tokens={cell.tokens} />
      </Tag>
    ));
  return (
    <>
      <table dir={dir}>
        <thead>
          <tr>{cells(token.header, "th")}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            // oxlint-disable-next-line react/no-array-index-key
            <tr key={index}>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
      {caret && <p>{caret}</p>}
    </>
  );
}
