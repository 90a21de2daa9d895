import type { CSSProperties } from "react";

const FILLED_VOICES = 8;

/**
 * Returns whether a voice is drawn open (a ring, a double line). Voices 9 to 16 are: their hues resemble those of 1 to
 * 8.
 */
export function isOutlined(number: number): boolean {
  return number > FILLED_VOICES;
}

/** Returns the style that sets the pane's hue as `var(--v)`. */
export function voiceStyle(number: number): CSSProperties {
  return { "--v": `var(--v${number})` } as CSSProperties;
}
