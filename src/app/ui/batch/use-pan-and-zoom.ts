import { useEffect, type RefObject } from "react";

interface Wheel {
  /** In (1) or out (-1). [nothing happens] */
  readonly onZoom?: ((direction: 1 | -1) => void) | undefined;
  /** CSS pixels; positive goes forward. [the page scrolls] */
  readonly onPan?: ((px: number) => void) | undefined;
}

/** Pixels of a wheel that counts lines. */
const LINE_PX = 16;

/** The wheel moves an area sideways, and zooms it with Ctrl. Rows that overflow are scrolled, Shift then pans. */
export function usePanAndZoom(area: RefObject<HTMLElement | null>, { onPan, onZoom }: Wheel): void {
  useEffect(() => {
    if (!onPan) return;
    const element = area.current;
    const onWheel = (event: WheelEvent) => {
      const { deltaX, deltaY, deltaMode, ctrlKey, shiftKey } = event;
      const scroller = element?.closest("[data-scrolls]");
      const isOverflowing = scroller && scroller.scrollHeight > scroller.clientHeight;
      const isSideways = Math.abs(deltaX) > Math.abs(deltaY) || shiftKey || !isOverflowing;
      if (!ctrlKey && !isSideways) return;
      // React listens to wheels passively, and neither the page's zoom nor its history must follow.
      event.preventDefault();
      const delta = Math.abs(deltaX) > Math.abs(deltaY) ? deltaX : deltaY;
      if (ctrlKey) onZoom?.(deltaY < 0 ? 1 : -1);
      else onPan(deltaMode === WheelEvent.DOM_DELTA_LINE ? delta * LINE_PX : delta);
    };
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  });
}
