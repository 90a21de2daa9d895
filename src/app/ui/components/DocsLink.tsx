import type { ReactNode } from "react";
import css from "./DocsLink.module.css";

/** The documents beside the app that it links to, by the names of their pages. */
export const LINKED_DOCS = ["index", "app", "how-it-works", "tuning", "troubleshooting", "library"] as const;
type LinkedDoc = (typeof LINKED_DOCS)[number];

/** Returns a page's address, relative to the app's. */
export const docsUrl = (page: LinkedDoc, at = ""): string => `docs/${page}.html${at && `#${at}`}`;

interface DocsLinkProps {
  readonly page: LinkedDoc;
  /** An anchor in the page: a heading's, or the code with which a row of a table begins. */
  readonly at?: string;
  readonly children: ReactNode;
}

/** A link to a page of the documents. It opens in another tab: in this one the model would be loaded again. */
export function DocsLink({ page, at, children }: DocsLinkProps) {
  return (
    <a href={docsUrl(page, at)} target="_blank" rel="noopener" className={css.link}>
      {children}
    </a>
  );
}
