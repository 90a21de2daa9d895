// The colours of tokens.css for canvases.

const NUM_PANES = 16;

const TOKENS = {
  ink: "--color-ink",
  ink2: "--color-ink-2",
  ink3: "--color-ink-3",
  onInk: "--color-on-ink",
  line: "--color-line",
  lineStrong: "--color-line-strong",
  control: "--color-control",
  surface: "--color-surface",
  surface2: "--color-surface-2",
  bad: "--color-bad",
  focus: "--color-focus",
  onPane: "--color-on-pane",
} as const;

export interface CanvasColors extends Readonly<Record<keyof typeof TOKENS, string>> {
  /** Colours by pane number; 0 is for requests without a pane. */
  readonly panes: readonly string[];
  readonly sans: string;
}

let colors: CanvasColors | null = null;
const listeners = new Set<() => void>();

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
  const named = Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name, read(token)]));
  const panes = [read("--color-ink-2"), ...Array.from({ length: NUM_PANES }, (_, i) => read(`--v${i + 1}`))];
  const sans = style.getPropertyValue("--sans");
  probe.remove();
  return { ...(named as Record<keyof typeof TOKENS, string>), panes, sans };
}
