import { useEffect, useRef, type ReactNode } from "react";

/** In CSS pixels of the window. */
export interface Anchor {
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
}

/** Pixels between the card and its subject, and between it and the window's edges. */
const GAP_PX = 4;
const EDGE_PX = 8;

/**
 * A card about the pointer's place, beside it. It lies above everything, takes part in no layout and ignores the pointer.
 * Screen readers get the same words elsewhere.
 */
export function PointerCard({ at, children }: { at: Anchor | null; children: ReactNode }) {
  const card = useRef<HTMLDivElement>(null);
  const isShown = at !== null;
  useEffect(() => {
    const box = card.current;
    if (!isShown || !box) return;
    box.showPopover();
    return () => box.hidePopover();
  }, [isShown]);
  useEffect(() => {
    if (card.current && at) placeBeside(card.current, at);
  });
  return (
    <div ref={card} className="tip" popover="manual" aria-hidden="true">
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
