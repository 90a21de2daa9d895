// The colours of tokens.css for canvases.

const NUM_VOICES = 16;

const TOKENS = {
  ink: "--ink",
  ink2: "--ink-2",
  ink3: "--ink-3",
  onInk: "--on-ink",
  line: "--line",
  lineStrong: "--line-strong",
  control: "--control",
  surface: "--surface",
  surface2: "--surface-2",
  bad: "--bad",
  focus: "--focus",
  onVoice: "--on-voice",
} as const;

export interface CanvasColors extends Readonly<Record<keyof typeof TOKENS, string>> {
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
  // A property's own value still has both themes' colours.
  const probe = document.body.appendChild(document.createElement("i"));
  const style = getComputedStyle(probe);
  const read = (token: string) => {
    probe.style.color = `var(${token})`;
    return style.color;
  };
  const inks = Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name, read(token)]));
  const voices = [read("--ink-2"), ...Array.from({ length: NUM_VOICES }, (_, i) => read(`--v${i + 1}`))];
  const sans = style.getPropertyValue("--sans");
  probe.remove();
  return { ...(inks as Record<keyof typeof TOKENS, string>), voices, sans };
}
