import { createContext, use, type ReactNode } from "react";
import type { Token, Tokens } from "marked";
import { Formula } from "./Formula.tsx";
import type { MathToken } from "./math-tokens.ts";
import { safeHref } from "./safe-href.ts";

/** The inline tokens of marked. */
type Known =
  | Tokens.Br
  | Tokens.Codespan
  | Tokens.Del
  | Tokens.Em
  | Tokens.Escape
  | Tokens.Image
  | Tokens.Link
  | MathToken
  | Tokens.Strong
  | Tokens.Tag
  | Tokens.Text;

/**
 * Returns the address in the app of a document's link or picture; null if the app has no such file. Not used for text that a
 * model wrote.
 */
export const AddressOf = createContext<((link: string) => string | null) | null>(null);

/** Text within a block. */
export function Inline({ tokens }: { tokens: readonly Token[] | undefined }) {
  return tokens?.map((token, index) => (
    // oxlint-disable-next-line react/no-array-index-key
    <InlineToken key={index} token={token as Known} />
  ));
}

function InlineToken({ token }: { token: Known }): ReactNode {
  switch (token.type) {
    case "text":
      return token.tokens ? <Inline tokens={token.tokens} /> : token.text;
    case "escape":
      return token.text;
    case "strong":
    case "em":
    case "del": {
      const Tag = token.type;
      return (
        <Tag>
          <Inline tokens={token.tokens} />
        </Tag>
      );
    }
    case "codespan":
      return <code>{token.text}</code>;
    case "math":
      return <Formula tex={token.text} isDisplay={token.isDisplay} />;
    case "br":
      return <br />;
    case "link":
      return (
        <Link href={token.href}>
          <Inline tokens={token.tokens} />
        </Link>
      );
    // Loading an image would tell its server that it was read, so it becomes a link.
    case "image":
      return <Picture href={token.href}>{token.text || "Image"}</Picture>;
    // HTML is shown as text.
    case "html":
    default:
      return token.raw;
  }
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
