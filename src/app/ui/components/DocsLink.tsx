import type { ReactNode } from "react";

/** The documents that the app links to, by their names. */
export const LINKED_DOCS = ["README", "app", "how-it-works", "tuning", "troubleshooting", "library"] as const;
type LinkedDoc = (typeof LINKED_DOCS)[number];

export const docsUrl = (page: LinkedDoc, at = ""): string => `#/docs/${page}${at && `?at=${at}`}`;

/** A link to a document, or to its heading or table row `at`. It opens in another tab: in this one a recording would end. */
export function DocsLink({ page, at, children }: { page: LinkedDoc; at?: string; children: ReactNode }) {
  return (
    <a href={docsUrl(page, at)} target="_blank" rel="noopener">
      {children}
    </a>
  );
}
