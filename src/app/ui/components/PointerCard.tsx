import { useEffect, useRef, type ReactNode, type RefObject } from "react";

/** In CSS pixels. */
export interface Anchor {
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
}

/** Pixels between the card and its subject, and between it and the window's edges. */
const GAP_PX = 4;
const EDGE_PX = 8;

interface PointerCardProps {
  /** A drawing, and the place on it, given its size; null shows no card. */
  readonly on: RefObject<HTMLElement | null>;
  readonly at: ((width: number, height: number) => Anchor) | null;
  readonly children: ReactNode;
}

/** A card beside a place of a drawing, above everything; it ignores the pointer. Screen readers get its words elsewhere. */
export function PointerCard({ on, at, children }: PointerCardProps) {
  const card = useRef<HTMLDivElement>(null);
  const isShown = at !== null;
  useEffect(() => {
    const box = card.current;
    if (!isShown || !box) return;
    box.showPopover();
    return () => box.hidePopover();
  }, [isShown]);
  useEffect(() => {
    if (!card.current || !on.current || !at) return;
    const { left: x, top: y, width, height } = on.current.getBoundingClientRect();
    const { left, top, bottom } = at(width, height);
    placeBeside(card.current, { left: x + left, top: y + top, bottom: y + bottom });
  });
  return (
    <div
      ref={card}
      className="pointer-events-none fixed inset-auto w-max max-w-[min(320px,calc(100vw-16px))] overflow-hidden rounded-md border-0 bg-ink px-2 py-1 t-12 text-on-ink shadow-2 [&_code]:font-mono [&_code]:whitespace-pre-wrap [&_code]:[font:inherit]"
      popover="manual"
      aria-hidden="true"
    >
      {children}
    </div>
  );
}

/** Places a box of the top layer below something, or above it where there is no room. */
export function placeBeside(box: HTMLElement, { left, top, bottom }: Anchor): void {
  const { offsetWidth, offsetHeight } = box;
  const isRoomBelow = bottom + offsetHeight + EDGE_PX < innerHeight;
  const y = isRoomBelow ? bottom + GAP_PX : top - offsetHeight - GAP_PX;
  box.style.left = `${Math.max(EDGE_PX, Math.min(left, innerWidth - offsetWidth - EDGE_PX))}px`;
  box.style.top = `${Math.max(EDGE_PX, y)}px`;
}
