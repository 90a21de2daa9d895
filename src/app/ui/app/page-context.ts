import { createContext, use } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { Overlay } from "../../state/app/overlay.ts";
import type { SavedPrompts } from "../../state/chat/saved-prompts.ts";
import type { ThemeChoice } from "../../state/app/theme.ts";
import type { KeptChoice } from "../../state/remembered.ts";
import type { DialogContent } from "../components/Dialog.tsx";

export type PageName = "chats" | "demo" | "bench" | "player" | "docs" | "serving";

/** The page that is shown, and what all pages share. */
export interface Page {
  readonly name: PageName;
  readonly theme: KeptChoice<ThemeChoice>;
  readonly overlay: Overlay<DialogContent>;
  /**
   * Whether shortcuts of a single character, without a modifier, work. They can be turned off (WCAG 2.1.4), since dictation
   * software may press such keys by accident.
   */
  readonly singleKeys: KeptChoice<"on" | "off">;
  readonly prompts: SavedPrompts;
  /** Opens the chats, and loads their model, at the first call. */
  readonly openChats: () => AppState;
}

export const PageContext = createContext<Page | null>(null);

/** Throws outside of Pages. */
export function usePage(): Page {
  const page = use(PageContext);
  if (page === null) throw new Error("This component must be rendered by Pages.");
  return page;
}
