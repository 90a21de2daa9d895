// The colours of tokens.css for canvases.

import { createStore } from "../../state/store.ts";

const NUM_PANES = 16;

const INKS = ["ink", "ink2", "ink3", "onInk", "onPane", "line", "lineStrong", "control", "bad", "focus"] as const;
const PAPERS = ["surface", "surface2"] as const;
type Named = Readonly<Record<(typeof INKS | typeof PAPERS)[number], string>>;

/** Returns "--color-ink-2" for "ink2". */
const tokenOf = (name: string) => `--color-${name.replaceAll(/(?=[A-Z\d])/g, "-").toLowerCase()}`;

export interface CanvasColors extends Named {
  /** Colours by pane number; 0 is for requests without a pane. */
  readonly panes: readonly string[];
  readonly sans: string;
}

/** Null: not read since the theme has changed. */
const colors = createStore<{ read: CanvasColors | null }>(() => ({ read: null }));
const themeObserver = new MutationObserver(() => colors.setState({ read: null }));
themeObserver.observe(document.documentElement, { attributeFilter: ["data-theme"] });

export function canvasColors(): CanvasColors {
  return (colors.getState().read ??= readColors());
}

/** Calls `listener` when the theme has changed. Returns the function that unsubscribes. */
export const onCanvasColorsChange = (listener: () => void): (() => void) => colors.subscribe(listener);

function readColors(): CanvasColors {
  // A property's own value still has both themes' colours.
  const probe = document.body.appendChild(document.createElement("i"));
  const style = getComputedStyle(probe);
  const read = (token: string) => {
    probe.style.color = `var(${token})`;
    return style.color;
  };
  const named = Object.fromEntries([...INKS, ...PAPERS].map((name) => [name, read(tokenOf(name))]));
  const panes = [read(tokenOf("ink2")), ...Array.from({ length: NUM_PANES }, (_, i) => read(`--v${i + 1}`))];
  const sans = style.getPropertyValue("--sans");
  probe.remove();
  return { ...(named as Named), panes, sans };
}
