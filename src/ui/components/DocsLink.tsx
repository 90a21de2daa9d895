import type { ReactNode } from "react";

/** The documents beside the app that it links to, by the names of their pages. */
export const LINKED_DOCS = ["index", "app", "how-it-works", "tuning", "troubleshooting", "library"] as const;
export type LinkedDoc = (typeof LINKED_DOCS)[number];

/** Returns a page's address, relative to the app's. */
export const docsUrl = (page: LinkedDoc): string => `docs/${page}.html`;

/** A link to a page of the documents. It opens in another tab: in this one the model would be loaded again. */
export function DocsLink({ page, children }: { page: LinkedDoc; children: ReactNode }) {
  return (
    <a href={docsUrl(page)} target="_blank" rel="noopener">
      {children}
    </a>
  );
}
