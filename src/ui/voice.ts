import type { CSSProperties } from "react";

const FILLED_VOICES = 8;

/** Voices 9 to 16 are drawn open (a ring, a double line): their hues are close to those of 1 to 8, drawn filled. */
export function isOpenVoice(number: number): boolean {
  return number > FILLED_VOICES;
}

/** Makes the pane's hue `var(--v)` for everything inside. */
export function voiceStyle(number: number): CSSProperties {
  return { "--v": `var(--v${number})` } as CSSProperties;
}
