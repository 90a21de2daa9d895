import { useRef, type MouseEvent, type PointerEvent } from "react";

/** In CSS pixels, from an area's top left corner. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Returns the handlers of an area whose cursor follows the pointer. A click goes to what is under the cursor. A finger
 * can't point without a tap, so a tap only moves the cursor.
 * @param onPoint called with the pointer's place; null: the pointer left
 * @param onGo called when what is under the cursor was clicked
 */
export function usePointerCursor(onPoint: (point: Point | null) => void, onGo: () => void) {
  // Not every browser reports the pointer type of a click.
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
