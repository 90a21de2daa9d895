import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import type { Command } from "../../state/commands/commands.ts";
import type { Page, PageName } from "../app/page-context.ts";

export const CHATS = ["chats"] as const;
/** The pages that show the batch. */
export const WITH_BATCH = ["chats", "demo"] as const;
export const EVERYWHERE = ["chats", "demo", "bench", "player", "docs", "serving"] as const;

type Words = string | ((context: ActionContext) => string);

/** What people do: found in the palette by its title, and run there, by its keys, in menus and by buttons. */
export interface Action extends Pick<Command, "group" | "keys" | "isTextFirst" | "words"> {
  readonly title: Words;
  /** In a menu, which says what it is about. [the title] */
  readonly label?: Words;
  readonly on: readonly PageName[];
  /** Whether it can be done now. It is not shown else, in a menu disabled, and its keys do nothing. [always] */
  readonly when?: (context: ActionContext) => boolean;
  readonly run: (context: ActionContext) => void;
}

/** An action, but for what its group has for all. */
export type GroupedAction = Omit<Action, "group" | "on"> & Partial<Pick<Action, "on">>;

/** Returns the actions of a group. @param on the pages on which they can be done, unless they name their own */
export function inGroup<Id extends string>(
  group: Action["group"],
  on: Action["on"],
  actions: Readonly<Record<Id, GroupedAction>>,
): Record<Id, Action> {
  const all = Object.entries<GroupedAction>(actions).map(([id, action]) => [id, { group, on, ...action }]);
  return Object.fromEntries(all) as Record<Id, Action>;
}

export interface ActionContext extends Page {
  /** Opened when it is read: only actions on pages with chats may do so. */
  readonly app: AppState;
  readonly panes: readonly Pane[];
  /** The pane of the menu or button, else the current one. */
  readonly pane: Pane;
}

export function contextOf(page: Page, own?: Pane): ActionContext {
  const workspace = () => page.openChats().workspace.store.getState();
  return {
    ...page,
    get app() {
      return page.openChats();
    },
    get panes() {
      return workspace().panes;
    },
    get pane() {
      const { panes, current } = workspace();
      const pane = own ?? panes.find(({ number }) => number === current) ?? panes[0];
      if (pane === undefined) throw new Error("No pane is open.");
      return pane;
    },
  };
}

export const wordsIn = (words: Words, context: ActionContext): string =>
  typeof words === "string" ? words : words(context);
