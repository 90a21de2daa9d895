import { useRef, type MouseEvent, type PointerEvent } from "react";

/** In CSS pixels, from an area's top left corner. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Handlers of an area whose cursor follows the pointer, and is clicked to go to what is under it. A finger can't point
 * without a tap: so that moves the cursor there and leaves it there, until the next tap.
 *
 * @param onPoint where the pointer is; null: the cursor goes
 * @param onGo what is under the cursor was clicked
 */
export function usePointerCursor(onPoint: (point: Point | null) => void, onGo: () => void) {
  // Not every browser says of a click what has made it.
  const isTouch = useRef(false);
  return {
    onPointerDown: ({ pointerType }: PointerEvent) => {
      isTouch.current = pointerType === "touch";
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (event.pointerType !== "touch") onPoint(pointOf(event));
    },
    onPointerLeave: ({ pointerType }: PointerEvent) => {
      if (pointerType !== "touch") onPoint(null);
    },
    onClick: (event: MouseEvent<HTMLElement>) => {
      if (isTouch.current) onPoint(pointOf(event));
      else onGo();
    },
    onBlur: () => onPoint(null),
  };
}

function pointOf({ currentTarget, clientX, clientY }: MouseEvent<HTMLElement>): Point {
  const { left, top } = currentTarget.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}
