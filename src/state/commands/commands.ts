import { createStore, type ReadonlyStore } from "../store.ts";

/** In the order in which the palette shows them. */
export const COMMAND_GROUPS = ["Chats", "Batch", "Pages", "Data", "Appearance", "Help"] as const;
type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** One thing a person can do: found in the palette by its title, and done by its keys where it has any. */
export interface Command {
  readonly id: string;
  /** What it does, as an order: "Add a pane". Read each time it is shown, so that a getter may tell the state. */
  readonly title: string;
  readonly group: CommandGroup;
  /** "Mod+K", "Alt+ArrowDown", "?": see shortcuts.ts. "Mod" is Ctrl, and on a Mac ⌘. */
  readonly keys?: string;
  /** Other words people may look for it by. */
  readonly words?: string;
  /** Absent: always. What can't be done now is not shown, and its keys do nothing. */
  readonly isEnabled?: () => boolean;
  readonly run: () => void;
}

/** All that can be done on the page, in one list: the palette, the keys and the list of shortcuts read it. */
export class Commands {
  readonly #store = createStore<readonly Command[]>(() => []);
  readonly store: ReadonlyStore<readonly Command[]> = this.#store;

  /** Returns the function that takes them away again. An id or keys that are in the list already are a mistake: throws. */
  register(added: readonly Command[]): () => void {
    const commands = [...this.#store.getState()];
    for (const command of added) {
      const rival = commands.find(({ id, keys }) => id === command.id || (keys !== undefined && keys === command.keys));
      if (rival) throw new Error(`The command ${command.id} has the id or the keys of ${rival.id}.`);
      commands.push(command);
    }
    this.#store.setState(commands, true);
    return () => this.#store.setState((all) => all.filter((command) => !added.includes(command)), true);
  }

  enabled(): readonly Command[] {
    return this.#store.getState().filter((command) => command.isEnabled?.() ?? true);
  }
}

/** Without a query all of them, by group; else those that have its every word somewhere, best title first. */
export function findCommands(commands: readonly Command[], query: string): readonly Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const groupOf = ({ group }: Command) => COMMAND_GROUPS.indexOf(group);
  if (words.length === 0) return commands.toSorted((a, b) => groupOf(a) - groupOf(b));

  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const rank = ({ title }: Command) => (title.toLowerCase().startsWith(words.join(" ")) ? 0 : has(title) ? 1 : 2);
  return commands
    .filter(({ title, group, words: more = "" }) => has(`${title} ${group} ${more}`))
    .toSorted((a, b) => rank(a) - rank(b) || groupOf(a) - groupOf(b));
}
