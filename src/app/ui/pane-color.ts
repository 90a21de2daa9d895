import type { CSSProperties } from "react";

const FILLED_PANES = 8;

/** Returns whether a pane is drawn open (a ring, a double line): 9 to 16, whose hues resemble those of 1 to 8. */
export function isOutlined(number: number): boolean {
  return number > FILLED_PANES;
}

/** Returns the style that sets the pane's hue as `var(--v)`. */
export function paneColorStyle(number: number): CSSProperties {
  return { "--v": `var(--v${number})` } as CSSProperties;
}
