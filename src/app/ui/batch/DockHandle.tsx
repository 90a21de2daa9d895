import { useEffect, useState, type KeyboardEvent, type PointerEvent, type RefObject } from "react";
import { MAX_DOCK_PX, MIN_DOCK_PX, type Dock } from "../../state/batch/dock.ts";
import { onResize } from "../listen.ts";

const KEY_PX: Record<string, number> = { ArrowUp: 16, ArrowDown: -16, PageUp: 80, PageDown: -80 };

/** The dock's upper edge, which can be dragged or moved with the arrow keys. */
export function DockHandle({ dock, body }: { dock: Dock; body: RefObject<HTMLElement | null> }) {
  const now = () => body.current?.clientHeight ?? MIN_DOCK_PX;
  // Without a height set by the person, CSS decides it. It is known after the first render.
  const [shownPx, setShownPx] = useState(MIN_DOCK_PX);
  useEffect(() => {
    const element = body.current;
    return element ? onResize(element, () => setShownPx(element.clientHeight)) : undefined;
  }, [body]);

  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) dock.setHeight(now() - event.movementY);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const px = KEY_PX[event.key];
    if (px !== undefined) dock.setHeight(now() + px);
    else if (event.key === "Home") dock.setHeight(MIN_DOCK_PX);
    else if (event.key === "End") dock.setHeight(MAX_DOCK_PX);
    else return;
    event.preventDefault();
  };
  // A separator that can be moved has a value and the focus; the linter knows only the one that can't.
  const splitter = {
    role: "separator",
    tabIndex: 0,
    "aria-orientation": "horizontal",
    "aria-valuemin": MIN_DOCK_PX,
    "aria-valuemax": MAX_DOCK_PX,
    "aria-valuenow": shownPx,
  } as const;
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      {...splitter}
      className="absolute inset-x-0 -top-1 z-1 h-2 cursor-ns-resize touch-none focus-visible:-outline-offset-3"
      aria-label="Height of Batch"
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={onKeyDown}
    />
  );
}
