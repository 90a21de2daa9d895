import { useRef, type MouseEvent, type PointerEvent } from "react";

/** In CSS pixels, from an area's top left corner. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A pointer that has moved this far is dragging, CSS pixels. */
const DRAG_PX = 4;

interface PointerCursor {
  /** Called with the pointer's place; null if the pointer left. */
  readonly onPoint: (point: Point | null) => void;
  /** Called when the cursor's place was clicked. [nothing happens] */
  readonly onGo?: (() => void) | undefined;
  /** Called while the area is dragged, with the pixels to move forward. [it can't be dragged] */
  readonly onPan?: ((px: number) => void) | undefined;
}

/** Returns the handlers of an area whose cursor follows the pointer. A finger's tap moves it, a click goes to its target. */
export function usePointerCursor({ onPoint, onGo, onPan }: PointerCursor) {
  // Not every browser reports the pointer type of a click.
  const isTouch = useRef(false);
  /** Where the pointer went down, and was last while it drags. */
  const down = useRef<number | null>(null);
  const isDragging = useRef(false);
  return {
    onPointerDown: ({ pointerType, clientX, button }: PointerEvent) => {
      isTouch.current = pointerType === "touch";
      isDragging.current = false;
      down.current = onPan && button === 0 ? clientX : null;
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const { pointerType, pointerId, clientX, currentTarget } = event;
      if (down.current !== null && onPan) {
        if (!isDragging.current && Math.abs(clientX - down.current) >= DRAG_PX) {
          isDragging.current = true;
          currentTarget.setPointerCapture(pointerId);
          onPoint(null);
        }
        if (isDragging.current) {
          onPan(down.current - clientX);
          down.current = clientX;
          return;
        }
      }
      if (pointerType !== "touch") onPoint(pointOf(event));
    },
    onPointerUp: () => (down.current = null),
    // The browser scrolls the page instead.
    onPointerCancel: () => (down.current = null),
    onPointerLeave: ({ pointerType }: PointerEvent) => {
      if (pointerType !== "touch" && !isDragging.current) onPoint(null);
    },
    onClick: (event: MouseEvent<HTMLElement>) => {
      if (isDragging.current) isDragging.current = false;
      else if (isTouch.current) onPoint(pointOf(event));
      else onGo?.();
    },
    onBlur: () => onPoint(null),
  };
}

function pointOf({ currentTarget, clientX, clientY }: MouseEvent<HTMLElement>): Point {
  const { left, top } = currentTarget.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}
