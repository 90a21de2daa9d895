import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

interface DockState {
  /** Whether the body is seen; the head always is. */
  readonly isOpen: boolean;
  /** Whether it has the panes' place, on a phone. */
  readonly isInView: boolean;
  /** Of the body, in CSS pixels; null: as its content needs. */
  readonly heightPx: number | null;
  /** Whether the timeline stands still, so that it can be read. */
  readonly isPaused: boolean;
  /** Width of a step on the timeline. */
  readonly stepPx: number;
  /** So many steps are to be seen at once: whoever knows the width of a timeline fits them into it. null: as stepPx says. */
  readonly fitSteps: number | null;
  /** The pane whose sequences are pointed at; null: none, and all are drawn alike. */
  readonly solo: number | null;
}

export const MIN_DOCK_PX = 160;
export const MAX_DOCK_PX = 720;
export const STEP_WIDTHS_PX = [0.5, 1, 1.5, 2, 3, 5, 7, 9, 13, 19, 27] as const;
const DEFAULT_STEP_PX = 9;

/** How the person has set up the view of the batch. Whether it is open and its height are remembered. */
export class Dock {
  readonly #store = createStore<DockState>(() => ({
    isOpen: remembered("dock.open") !== "no",
    isInView: false,
    heightPx: clampHeight(Number(remembered("dock.height") ?? NaN)),
    isPaused: false,
    stepPx: DEFAULT_STEP_PX,
    fitSteps: null,
    solo: null,
  }));
  readonly store: ReadonlyStore<DockState> = this.#store;

  toggle(): void {
    const isOpen = !this.store.getState().isOpen;
    this.#store.setState({ isOpen });
    remember("dock.open", isOpen ? "yes" : "no");
  }

  /** Where there is room for one thing at a time: the batch, or the panes. */
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
    this.#store.setState({ isPaused: !this.store.getState().isPaused });
  }

  /** 1: nearer, -1: further away. Does nothing at the last width. */
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

  /** Zooms so that so many steps are seen, and no further away than that. */
  fit(steps: number): void {
    this.#store.setState({ fitSteps: steps });
  }

  /** Chooses the width of a step, where steps are to be fitted into the timeline's. */
  settleZoom(widthPx: number): void {
    const { fitSteps, stepPx: before } = this.store.getState();
    if (fitSteps === null) return;
    const stepPx = STEP_WIDTHS_PX.findLast((px) => px * fitSteps <= widthPx) ?? STEP_WIDTHS_PX[0];
    if (stepPx !== before) this.#store.setState({ stepPx });
  }

  point(pane: number | null): void {
    if (pane !== this.store.getState().solo) this.#store.setState({ solo: pane });
  }
}

function clampHeight(px: number): number | null {
  return Number.isFinite(px) ? Math.round(Math.max(MIN_DOCK_PX, Math.min(MAX_DOCK_PX, px))) : null;
}
