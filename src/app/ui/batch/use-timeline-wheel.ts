import { useEffect, useRef, type RefObject } from "react";

interface TimelineWheel {
  /** In (1) or out (-1). */
  readonly onZoom: (direction: 1 | -1) => void;
  /** CSS pixels; positive goes forward in time. */
  readonly onPan: (px: number) => void;
}

/** Pixels of a wheel that counts lines. */
const LINE_PX = 16;

/** The wheel moves the timeline through time, and zooms it with Ctrl. Rows that overflow are scrolled, Shift then pans. */
export function useTimelineWheel(area: RefObject<HTMLElement | null>, wheel: TimelineWheel): void {
  const newest = useRef(wheel);
  useEffect(() => {
    newest.current = wheel;
  });
  useEffect(() => {
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
      if (ctrlKey) newest.current.onZoom(deltaY < 0 ? 1 : -1);
      else newest.current.onPan(deltaMode === WheelEvent.DOM_DELTA_LINE ? delta * LINE_PX : delta);
    };
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, [area]);
}
