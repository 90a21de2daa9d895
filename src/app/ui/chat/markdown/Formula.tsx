import { importWithRetry } from "../../../import-with-retry.ts";
import { useEffect, useLayoutEffect, useRef } from "react";
import { classNames } from "../../class-names.ts";
import type { Token } from "marked";
import { useStore } from "zustand";
import { lazyLibrary } from "../../lazy-library.ts";

/** KaTeX with its fonts, which few answers need. */
const katex = lazyLibrary(() => importWithRetry(() => import("./katex.ts")));

const DISPLAY = "block overflow-x-auto overflow-y-hidden";
/** Sizes in em. */
const LIMITS = { maxSize: 20 };
/** Macros of its own can grow without end, and large negative sizes draw over other text. */
const IS_REFUSED =
  /\\(?:[gex]?def|g?let|futurelet|(?:re)?newcommand|providecommand)(?![A-Za-z])|-\s*\d{2,}[\d.]*\s*(?:[a-z]{2})/;

/** A formula; its source until KaTeX is there, and where KaTeX does not understand it. */
export function Formula({ tex, isDisplay }: { tex: string; isDisplay: boolean }) {
  const { library } = useStore(katex.store);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    void katex.load();
  }, []);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current || library === null) return;
    try {
      if (IS_REFUSED.test(tex)) throw new Error("It is shown as it was written.");
      // Elements only: no HTML is parsed.
      library.render(tex, current, { ...LIMITS, displayMode: isDisplay, throwOnError: true, strict: "ignore" });
    } catch {
      const source = document.createElement("code");
      source.textContent = tex;
      current.replaceChildren(source);
    }
  }, [library, tex, isDisplay]);
  return library ? (
    <span
      key="drawn"
      ref={element}
      className={classNames("text-[0.92em] [overflow-wrap:normal]", isDisplay && DISPLAY)}
      dir="ltr"
    />
  ) : (
    <code key="source" className={isDisplay ? DISPLAY : undefined}>
      {tex}
    </code>
  );
}

/** Says once in an answer why its formulas are not drawn. */
export function FormulasMissing({ blocks }: { blocks: readonly Token[] }) {
  const isMissing = useStore(katex.store, (state) => state.isMissing);
  if (!isMissing || !JSON.stringify(blocks).includes('"type":"math"')) return null;
  return (
    <p className="t-12 text-ink-2">
      The formulas are shown as they were written. They are drawn when this page is online again.
    </p>
  );
}
