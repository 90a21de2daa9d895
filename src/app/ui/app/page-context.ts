import { createContext, use, type ReactNode } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { Overlay } from "../../state/app/overlay.ts";
import type { SavedPrompts } from "../../state/chat/saved-prompts.ts";
import type { ThemeChoice } from "../../state/app/theme.ts";
import type { KeptChoice } from "../../state/remembered.ts";

export type PageName = "chats" | "demo" | "bench" | "player" | "docs" | "serving";

/** The page, and what all its views share. It is the same object for as long as the page lives. */
export interface Page {
  /** The view that the address names now. */
  readonly name: PageName;
  readonly theme: KeptChoice<ThemeChoice>;
  readonly overlay: Overlay<DialogContent>;
  /** Whether shortcuts of a single character work: dictation software may press such keys by accident (WCAG 2.1.4). */
  readonly singleKeys: KeptChoice<"on" | "off">;
  readonly prompts: SavedPrompts;
  /** Opens the chats, and loads their model, at the first call. */
  readonly openChats: () => AppState;
  /** Returns the chats; null if they were not opened yet. */
  readonly openedChats: () => AppState | null;
}

/** Its head's words, else its accessible name: then the content has a head of its own. */
type DialogName =
  | { readonly title: string; readonly name?: string }
  | { readonly title?: undefined; readonly name: string };

export type DialogContent = DialogName & {
  /** What it looks like, and its head. [as all others] */
  readonly className?: string;
  readonly headClass?: string;
  readonly widthPx: number;
  /** Id of the button below which it opens. [in the middle of the window] */
  readonly beside?: string;
  readonly body: ReactNode;
};

export const PageContext = createContext<Page | null>(null);

/** Throws outside of the page. */
export function usePage(): Page {
  const page = use(PageContext);
  if (page === null) throw new Error("This component must be rendered in a page.");
  return page;
}

/** Returns the stores of the chats, which are opened if they were not yet. */
export const useApp = (): AppState => usePage().openChats();
