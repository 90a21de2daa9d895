/** In the palette's order. */
export const COMMAND_GROUPS = ["Chats", "Batch", "Pages", "Data", "Appearance", "Help", "Prompts"] as const;
type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** An action that people find in the palette by its title, and run by its keys if it has any. */
export interface Command {
  readonly id: string;
  /** An imperative: "Add a pane". It is read each time it is shown, so it may be a getter. */
  readonly title: string;
  readonly group: CommandGroup;
  /** "Mod+K", "Alt+ArrowDown", "?": see shortcuts.ts. "Mod" is Ctrl, or ⌘ on a Mac. */
  readonly keys?: string;
  /** Whether a text field uses these keys, and has them first. */
  readonly isTextFirst?: boolean;
  /** More words to find it by. */
  readonly words?: string;
  /** A disabled command is not shown, and its keys do nothing. [always enabled] */
  readonly isEnabled?: () => boolean;
  readonly run: () => void;
}

/** Returns the commands that contain every word of the query, best title first; all by group if the query is empty. */
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
