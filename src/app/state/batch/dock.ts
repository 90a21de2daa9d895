import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

const stateAtFirst = (isOpen: boolean) => ({
  /** Whether the body is visible; the head always is. */
  isOpen,
  /** Whether it replaces the panes, on a phone. */
  isInView: false,
  /** Height of the body in CSS pixels; null: as high as its content. */
  heightPx: clampHeight(Number(remembered("dock.height") ?? NaN)),
  isPaused: false,
  /** Width of a step on the timeline, CSS pixels. */
  stepPx: DEFAULT_STEP_PX,
  /** Number of steps to fit into the timeline's width; null: stepPx applies. */
  fitSteps: null as number | null,
  /** The pane whose sequences are highlighted; null: none. */
  highlightedPane: null as number | null,
});
type DockState = Readonly<ReturnType<typeof stateAtFirst>>;

export const MIN_DOCK_PX = 160;
export const MAX_DOCK_PX = 720;
export const STEP_WIDTHS_PX = [0.5, 1, 1.5, 2, 3, 5, 7, 9, 13, 19, 27] as const;
const DEFAULT_STEP_PX: number = 9;

/** Lower than this, such as a phone held sideways or a page at 200%, a window has no room for chats above an open dock. */
const SHORT_WINDOW = "(max-height: 599px)";
/** Lower than this the dock would take the first pane's starters their room. */
const LOW_WINDOW = "(max-height: 799px)";

/**
 * How the batch is shown. Whether it is open, and its height, are remembered. On low windows it begins closed, and opens once
 * there is something to share; on short ones only by hand.
 */
export class Dock {
  readonly #short = globalThis.matchMedia?.(SHORT_WINDOW);
  readonly #low = globalThis.matchMedia?.(LOW_WINDOW);
  #hasShared = false;
  readonly #store = createStore<DockState>(() => stateAtFirst(this.#isOpenAtFirst()));
  readonly store: ReadonlyStore<DockState> = this.#store;

  constructor() {
    for (const media of [this.#short, this.#low]) {
      media?.addEventListener("change", () => this.#store.setState({ isOpen: this.#isOpenAtFirst() }));
    }
  }

  #isOpenAtFirst(): boolean {
    if (this.#short?.matches) return false;
    const choice = remembered("dock.open");
    return choice === null ? this.#hasShared || !this.#low?.matches : choice !== "no";
  }

  /** On a short window the choice lasts as long as the window is short. */
  toggle(): void {
    const isOpen = !this.store.getState().isOpen;
    this.#store.setState({ isOpen });
    if (!this.#short?.matches) remember("dock.open", isOpen ? "yes" : "no");
  }

  /** Opens it the first time that there is something to share, unless the person chose otherwise. */
  openOnce(): void {
    if (this.#hasShared) return;
    this.#hasShared = true;
    if (this.#isOpenAtFirst()) this.#store.setState({ isOpen: true });
  }

  /** On a phone: shows the batch instead of the panes, or the panes. */
  show(isInView: boolean): void {
    if (isInView !== this.store.getState().isInView) this.#store.setState({ isInView });
  }

  setHeight(px: number): void {
    const heightPx = clampHeight(px);
    if (heightPx === null) return;
    this.#store.setState({ heightPx });
    remember("dock.height", `${heightPx}`);
  }

  togglePause(): void {
    this.pause(!this.store.getState().isPaused);
  }

  pause(isPaused: boolean): void {
    if (isPaused !== this.store.getState().isPaused) this.#store.setState({ isPaused });
  }

  /** Zooms in (1) or out (-1). Does nothing at the last width. */
  zoom(direction: 1 | -1): void {
    const stepPx = this.#nextStepPx(direction);
    if (stepPx !== undefined) this.zoomTo(stepPx);
  }

  canZoom(direction: 1 | -1): boolean {
    return this.#nextStepPx(direction) !== undefined;
  }

  #nextStepPx(direction: 1 | -1): number | undefined {
    const at = STEP_WIDTHS_PX.findIndex((px) => px === this.store.getState().stepPx);
    return STEP_WIDTHS_PX[at + direction];
  }

  zoomTo(stepPx: number): void {
    this.#store.setState({ stepPx, fitSteps: null });
  }

  /** Zooms so that this many steps fit, and no further out. */
  fit(steps: number): void {
    this.#store.setState({ fitSteps: steps });
  }

  /** Chooses the width of a step that fits the requested steps into `widthPx`. */
  settleZoom(widthPx: number): void {
    const { fitSteps, stepPx: before } = this.store.getState();
    if (fitSteps === null) return;
    const stepPx = STEP_WIDTHS_PX.findLast((px) => px * fitSteps <= widthPx) ?? STEP_WIDTHS_PX[0];
    if (stepPx !== before) this.#store.setState({ stepPx });
  }

  highlight(pane: number | null): void {
    if (pane !== this.store.getState().highlightedPane) this.#store.setState({ highlightedPane: pane });
  }
}

function clampHeight(px: number): number | null {
  return Number.isFinite(px) ? Math.round(Math.max(MIN_DOCK_PX, Math.min(MAX_DOCK_PX, px))) : null;
}
