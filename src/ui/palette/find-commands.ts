import { COMMAND_GROUPS, type Command } from "../../state/commands.ts";

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
