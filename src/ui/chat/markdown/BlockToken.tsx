import type { ReactNode } from "react";
import type { Token, Tokens } from "marked";
import { CodeBlock } from "./CodeBlock.tsx";
import { Inline } from "./Inline.tsx";

/** The block tokens of marked. */
type Known =
  | Tokens.Blockquote
  | Tokens.Code
  | Tokens.HTML
  | Tokens.Heading
  | Tokens.Hr
  | Tokens.List
  | Tokens.Paragraph
  | Tokens.Table
  | Tokens.Text;

interface BlockTokenProps {
  token: Token;
  /** Shown at the end of the block's text. */
  caret?: ReactNode;
}

export function BlockToken({ token, caret = null }: BlockTokenProps) {
  const known = token as Known;
  switch (known.type) {
    case "heading":
      return <Heading token={known} caret={caret} />;
    case "code":
      return <CodeBlock code={known.text} language={known.lang ?? ""} caret={caret} />;
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={known.tokens} caret={caret} />
        </blockquote>
      );
    case "list":
      return <List token={known} caret={caret} />;
    case "table":
      return <Table token={known} caret={caret} />;
    case "hr":
      return (
        <>
          <hr />
          {caret && <p>{caret}</p>}
        </>
      );
    case "paragraph":
      return (
        <p>
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
        <p>
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

/** Headings of an answer rank below the page's: h1 bar, h2 pane, h3 note. */
function Heading({ token, caret }: { token: Tokens.Heading; caret: ReactNode }) {
  const Tag = token.depth === 1 ? "h4" : token.depth === 2 ? "h5" : "h6";
  return (
    <Tag>
      <Inline tokens={token.tokens} />
      {caret}
    </Tag>
  );
}

function List({ token, caret }: { token: Tokens.List; caret: ReactNode }) {
  const items = token.items.map((item, index) => (
    // oxlint-disable-next-line react/no-array-index-key
    <li key={index}>
      {item.task && <input type="checkbox" checked={item.checked ?? false} disabled aria-label="Done" />}
      <Blocks tokens={item.tokens} caret={index === token.items.length - 1 ? caret : null} />
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token, caret }: { token: Tokens.Table; caret: ReactNode }) {
  const cells = (row: readonly Tokens.TableCell[], Tag: "th" | "td") =>
    row.map((cell, index) => (
      // oxlint-disable-next-line react/no-array-index-key
      <Tag key={index} style={{ textAlign: cell.align ?? undefined }}>
        <Inline tokens={cell.tokens} />
      </Tag>
    ));
  return (
    <>
      <table>
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
