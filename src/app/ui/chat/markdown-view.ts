import { createStore } from "../../state/store.ts";
import type { Markdown } from "./markdown/Markdown.tsx";

/** The renderer of Markdown; null until it is loaded: a page without answers does not need it. */
export const markdownView = createStore<{ readonly Markdown: typeof Markdown | null }>(() => ({ Markdown: null }));

/** Loads it. Without it, answers are shown as plain text. */
export async function loadMarkdown(): Promise<void> {
  try {
    markdownView.setState({ Markdown: (await import("./markdown/Markdown.tsx")).Markdown });
  } catch {
    // As said above.
  }
}
