import { createContext, Fragment, memo, use, useState, type ReactNode } from "react";
import type { MarkedToken, Token, Tokens } from "marked";
import "../../late.css";
import { CodeBlock } from "./CodeBlock.tsx";
import { Formula, FormulasMissing } from "./Formula.tsx";
import { headingLevels, MarkdownStream } from "./markdown-stream.ts";
import type { MathToken } from "./math-tokens.ts";
import { safeHref } from "./safe-href.ts";

/** Returns the address in the app of a document's link or picture; null if it has none. Not used for a model's text. */
export const AddressOf = createContext<((link: string) => string | null) | null>(null);

/** Renders an answer's Markdown. Only the elements of MarkdownToken are possible, never the model's own HTML. */
export function Markdown({ text, caret }: { text: string; caret: ReactNode }) {
  const [stream] = useState(() => new MarkdownStream());
  const blocks = stream.blocksOf(text.trimStart());
  return (
    <div className="markdown">
      {blocks.length === 0 && <p>{caret}</p>}
      <MarkdownBlocks blocks={blocks} caret={caret} />
      <FormulasMissing blocks={blocks} />
    </div>
  );
}

interface MarkdownBlocksProps {
  blocks: readonly Token[];
  caret?: ReactNode;
  /** Number of heading levels above. [2: h1 bar, h2 pane] */
  levelsAbove?: number;
}

export function MarkdownBlocks({ blocks, caret = null, levelsAbove = 2 }: MarkdownBlocksProps) {
  const levels = headingLevels(blocks, levelsAbove);
  return blocks.map((token, index) => (
    <Block
      // Text only grows at its end, so a block keeps its index.
      // oxlint-disable-next-line react/no-array-index-key
      key={index}
      token={token}
      level={levels[index] ?? null}
      caret={index === blocks.length - 1 ? caret : null}
      dir="auto"
    />
  ));
}

/** A finished block's token never changes, so it is rendered once. */
const Block = memo(MarkdownToken);

interface MarkdownTokenProps {
  token: Token;
  /** Shown at the end of a block's text. */
  caret?: ReactNode;
  /** auto: by its first letter, on blocks of their own. Blocks in a block have its direction. */
  dir?: "auto" | undefined;
  /** The level of a heading in the page. [null: not a heading, as in a list] */
  level?: number | null;
}

/** A block, or a part of its text. HTML is shown as text. */
function MarkdownToken({ token, caret = null, dir, level = null }: MarkdownTokenProps): ReactNode {
  const known = token as MarkedToken | MathToken;
  switch (known.type) {
    case "heading": {
      const Tag = level === 2 ? "h2" : level === 3 ? "h3" : level === 4 ? "h4" : level === null ? "p" : "h5";
      const Words = level === null ? "strong" : Fragment;
      return (
        <Tag dir={dir}>
          <Words>
            <Inline tokens={known.tokens} />
            {caret}
          </Words>
        </Tag>
      );
    }
    case "code":
      return <CodeBlock code={known.text} language={known.lang ?? ""} caret={caret} />;
    case "blockquote":
      return (
        <blockquote dir={dir}>
          <Blocks tokens={known.tokens} caret={caret} />
        </blockquote>
      );
    case "list": {
      const Tag = known.ordered ? "ol" : "ul";
      return (
        <Tag dir={dir} {...(known.ordered && { start: Number(known.start) || 1 })}>
          {known.items.map(({ task, checked = false, tokens }, index) => (
            // oxlint-disable-next-line react/no-array-index-key
            <li key={index}>
              {task && <input type="checkbox" checked={checked} disabled aria-label={checked ? "Done" : "To do"} />}
              <Blocks tokens={tokens} caret={index === known.items.length - 1 ? caret : null} />
            </li>
          ))}
        </Tag>
      );
    }
    case "table":
      return (
        <>
          <table dir={dir}>
            <thead>
              <Row cells={known.header} as="th" />
            </thead>
            <tbody>
              {known.rows.map((cells, index) => (
                // oxlint-disable-next-line react/no-array-index-key
                <Row key={index} cells={cells} as="td" />
              ))}
            </tbody>
          </table>
          {caret && <p>{caret}</p>}
        </>
      );
    case "math":
    case "hr":
      return (
        <>
          {known.type === "hr" ? <hr /> : <Formula tex={known.text} isDisplay={known.isDisplay} />}
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
    case "escape":
      return known.text;
    case "strong":
    case "em":
    case "del": {
      const Tag = known.type;
      return (
        <Tag>
          <Inline tokens={known.tokens} />
        </Tag>
      );
    }
    case "codespan":
      return <code>{known.text}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <Link href={known.href}>
          <Inline tokens={known.tokens} />
        </Link>
      );
    // Loading an image would tell its server that it was read, so it becomes a link.
    case "image":
      return <Picture href={known.href}>{known.text || "Image"}</Picture>;
    case "html":
      return known.block ? (
        <p dir={dir}>
          {known.raw.trimEnd()}
          {caret}
        </p>
      ) : (
        known.raw
      );
    case "space":
    case "def":
    case "checkbox":
    case "list_item":
    default:
      return token.raw;
  }
}

function Blocks({ tokens, caret }: { tokens: readonly Token[]; caret: ReactNode }) {
  const seen = tokens.filter(({ type }) => type !== "space" && type !== "def" && type !== "checkbox");
  if (seen.length === 0) return caret;
  return seen.map((token, index) => (
    // oxlint-disable-next-line react/no-array-index-key
    <MarkdownToken key={index} token={token} caret={index === seen.length - 1 ? caret : null} />
  ));
}

function Inline({ tokens }: { tokens: readonly Token[] | undefined }) {
  return tokens?.map((token, index) => (
    // oxlint-disable-next-line react/no-array-index-key
    <MarkdownToken key={index} token={token} />
  ));
}

function Row({ cells, as: Tag }: { cells: readonly Tokens.TableCell[]; as: "th" | "td" }) {
  return (
    <tr>
      {cells.map(({ align, tokens }, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <Tag key={index} style={{ textAlign: align ?? undefined }}>
          <Inline tokens={tokens} />
        </Tag>
      ))}
    </tr>
  );
}

function Picture({ href, children }: { href: string; children: string }) {
  const source = use(AddressOf)?.(href) ?? null;
  return source === null ? <Link href={href}>{children}</Link> : <img src={source} alt={children} />;
}

function Link({ href, children }: { href: string; children: ReactNode }) {
  const addressOf = use(AddressOf);
  const address = addressOf?.(href) ?? null;
  if (addressOf && address === null) return <code>{children}</code>;
  if (address?.startsWith("#")) return <a href={address}>{children}</a>;
  const safe = safeHref(href);
  if (safe === null) return children;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
