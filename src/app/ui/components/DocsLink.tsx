import type { ReactNode } from "react";

/** The documents that the app links to, by their names. */
export const LINKED_DOCS = ["README", "app", "how-it-works", "tuning", "troubleshooting", "library"] as const;
type LinkedDoc = (typeof LINKED_DOCS)[number];

/** Returns a document's address in the app. */
export const docsUrl = (page: LinkedDoc, at = ""): string => `#/docs/${page}${at && `?at=${at}`}`;

interface DocsLinkProps {
  readonly page: LinkedDoc;
  /** An anchor in the page: a heading's, or the code with which a row of a table begins. */
  readonly at?: string;
  readonly children: ReactNode;
}

/** A link to a document. It opens in another tab: in this one a recording would end. */
export function DocsLink({ page, at, children }: DocsLinkProps) {
  return (
    <a href={docsUrl(page, at)} target="_blank" rel="noopener">
      {children}
    </a>
  );
}
