import type { Token } from "marked";

/** Number of heading levels above an answer's: h1 bar, h2 pane. */
const LEVELS_ABOVE = 2;
const LAST_LEVEL = 5;

/**
 * Returns each block's level as a heading of the page; null if it is not one. An answer may begin with any depth and skip
 * some, but the page's outline has no gaps. A block's level depends only on the blocks before it.
 */
export function headingLevels(blocks: readonly Token[], levelsAbove = LEVELS_ABOVE): readonly (number | null)[] {
  /** Depths of the newest heading's parents. */
  const open: number[] = [];
  return blocks.map((token) => {
    if (token.type !== "heading") return null;
    while ((open.at(-1) ?? 0) >= token["depth"]) open.pop();
    open.push(token["depth"]);
    return Math.min(LAST_LEVEL, levelsAbove + open.length);
  });
}
