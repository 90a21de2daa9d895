// The colours of tokens.css for canvases.

const VOICES = 16;

export interface CanvasColors {
  readonly ink: string;
  readonly ink2: string;
  readonly ink3: string;
  readonly onInk: string;
  readonly line: string;
  readonly lineStrong: string;
  readonly control: string;
  readonly surface: string;
  readonly surface2: string;
  readonly bad: string;
  readonly focus: string;
  readonly onVoice: string;
  /** Colours by pane number; 0 is for requests without a pane. */
  readonly voices: readonly string[];
  /** The interface's family, for canvas fonts. */
  readonly sans: string;
}

let colors: CanvasColors | null = null;
const listeners = new Set<() => void>();

/** Returns the colors of the current theme. */
export function canvasColors(): CanvasColors {
  return (colors ??= readColors());
}

/** Calls `listener` when the theme has changed. Returns the function that unsubscribes. */
export function onCanvasColorsChange(listener: () => void): () => void {
  if (listeners.size === 0) themeObserver.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) themeObserver.disconnect();
    if (listeners.size === 0) colors = null;
  };
}

const themeObserver = new MutationObserver(() => {
  colors = null;
  for (const listener of listeners) listener();
});

function readColors(): CanvasColors {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: read("--ink"),
    ink2: read("--ink-2"),
    ink3: read("--ink-3"),
    onInk: read("--on-ink"),
    line: read("--line"),
    lineStrong: read("--line-strong"),
    control: read("--control"),
    surface: read("--surface"),
    surface2: read("--surface-2"),
    bad: read("--bad"),
    focus: read("--focus"),
    onVoice: read("--on-voice"),
    voices: [read("--ink-2"), ...Array.from({ length: VOICES }, (_, i) => read(`--v${i + 1}`))],
    sans: read("--sans"),
  };
}
