import { marked } from "marked";
import { useEffect, useMemo, useRef } from "react";
import { PageHead } from "../bar/PageHead.tsx";
import { AddressOf, MarkdownBlocks } from "../chat/markdown/Markdown.tsx";
import { useLoaded } from "../use-loaded.ts";
import { anchorOf, addressIn, documents, pathOf, sectionOf } from "./documents.ts";

const MAX_WAIT_MS = 30_000;

/** A document of the repository, opened at an anchor. */
export function DocsPage({ name, at }: { name: string; at: string | null }) {
  const path = pathOf(name);
  const text = useLoaded(path, textOf);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    if (text === null || !main.current) return;
    const target = targetIn(main.current, at);
    if (!target) return;
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    if (at === null) scrollTo(0, 0);
    else target.scrollIntoView();
  }, [text, at]);
  return (
    <div>
      <PageHead title="Documents">
        <a className="button max-[400px]:px-2 max-[400px]:py-0" href="#/docs/README">
          Contents
        </a>
      </PageHead>
      <main
        ref={main}
        className="markdown mx-auto max-w-200 px-4 pt-3 pb-16 [&_:is(h2,h3,h4,h5,td)]:scroll-mt-4 [&_img]:h-auto [&_img]:max-w-full [&_table]:[overflow-wrap:normal]"
      >
        {path === undefined ? (
          <p role="alert">There is no document &ldquo;{name}&rdquo;. The contents have all of them.</p>
        ) : (
          text !== null && <Document key={path} path={path} text={text} />
        )}
      </main>
    </div>
  );
}

/** What stands under one heading of a document. Without the network it is the sentence that says so. */
export function DocsSection({ name, at }: { name: string; at: string }) {
  const path = pathOf(name);
  const text = useLoaded(path, textOf);
  if (path === undefined || text === null) return null;
  return (
    <section className="markdown">
      <Document path={path} text={sectionOf(text, at) ?? text} />
    </section>
  );
}

function Document({ path, text }: { path: string; text: string }) {
  const blocks = useMemo(() => marked.lexer(text).filter(({ type }) => type !== "space" && type !== "html"), [text]);
  const addressOf = useMemo(() => (link: string) => addressIn(path, link), [path]);
  return (
    <AddressOf value={addressOf}>
      <MarkdownBlocks blocks={blocks} levelsAbove={1} />
    </AddressOf>
  );
}

/** Returns the text of a document, or a sentence that says why there is none; null if there is no such document. */
async function textOf(path: string | undefined, leaving: AbortSignal): Promise<string | null> {
  const url = path === undefined ? undefined : documents[path];
  if (url === undefined) return null;
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(MAX_WAIT_MS)]);
  const response = await fetch(url, { signal }).catch(() => null);
  const text = response?.ok ? await response.text().catch(() => null) : null;
  return text ?? "# Not loaded\n\nThis document could not be loaded. Reload the page when the network is back.";
}

/** Returns the heading with this anchor, or else the first cell of the row that begins with it; null: the title. */
function targetIn(page: HTMLElement, at: string | null): HTMLElement | null {
  const titles = [...page.querySelectorAll<HTMLElement>("h2, h3, h4, h5")];
  const cells = [...page.querySelectorAll<HTMLElement>("td:first-child")];
  return (
    titles.find(({ textContent }) => anchorOf(textContent) === at) ??
    cells.find(({ textContent }) => textContent === at) ??
    titles[0] ??
    null
  );
}
