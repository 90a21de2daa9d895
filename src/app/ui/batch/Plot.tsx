import { type ComponentProps, type KeyboardEvent, type ReactNode, useEffect, type RefObject } from "react";
import { CursorArea } from "../components/CursorArea.tsx";
import { PointerCard, type Anchor } from "../components/PointerCard.tsx";
import { useCanvas, type Draw, type Source } from "./use-canvas.ts";
import { usePointerCursor, type Point } from "./use-pointer-cursor.ts";
import { listen } from "../listen.ts";

/** By how many columns and rows of a page, or of single cells, a key moves the cursor. */
const CELL_MOVES: Record<string, readonly [columns: number, rows: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  Home: [-Infinity, 0],
  End: [Infinity, 0],
};
const PAGE_MOVES: Record<string, number> = { PageUp: -1, PageDown: 1 };
const NO_SOURCES: readonly Source[] = [];

interface Panned {
  /** Drag and wheel, with the CSS pixels to move forward. [it stands still] */
  onPan?: ((px: number) => void) | undefined;
  /** Plus, minus and the wheel with Ctrl: in (1) or out (-1). */
  onZoom?: ((direction: 1 | -1) => void) | undefined;
}

interface PlotProps<Cell> extends Panned, Omit<ComponentProps<typeof CursorArea>, "children"> {
  draw: Draw;
  /** What it is drawn from, besides its properties. Their number must not change. */
  sources?: readonly Source[];
  /** The cell with the cursor; null for none. */
  cursor: Cell | null;
  onCursor: (cell: Cell | null) => void;
  /** Returns the cell at a point of a drawing of this width; null for none. [the pointer moves no cursor] */
  cellAt?: (point: Point, width: number) => Cell | null;
  /** Returns the cell some columns and rows further; undefined if there is no such way. */
  move: (columns: number, rows: number) => Cell | undefined;
  /** Columns that Page Up and Page Down move by. [20] */
  page?: number;
  /** Enter, or a click on the cursor. */
  onGo?: () => void;
  /** Space. */
  onSpace?: () => void;
  /** Returns the card's place on a drawing of this size; null shows none. [null] */
  cardAt?: ((width: number, height: number) => Anchor) | null;
  card?: ReactNode;
}

/** A drawing with a cursor for the pointer and the keys, a card beside the cursor, and words for screen readers. */
export function Plot<Cell>({
  draw,
  sources = NO_SOURCES,
  cursor,
  onCursor,
  cellAt,
  move,
  page = 20,
  onGo,
  onPan,
  onZoom,
  onSpace,
  cardAt = null,
  card,
  ...area
}: PlotProps<Cell>) {
  const canvas = useCanvas(draw, sources);
  const pointer = usePointerCursor({
    onPoint: (point) => onCursor(point && (cellAt?.(point, canvas.current?.clientWidth ?? 0) ?? null)),
    onGo,
    onPan,
  });
  usePanAndZoom(canvas, { onPan, onZoom });
  const others: Record<string, (() => void) | undefined> = {
    Enter: onGo,
    Escape: cursor === null ? undefined : () => onCursor(null),
    " ": onSpace,
    "+": onZoom && (() => onZoom(1)),
    "=": onZoom && (() => onZoom(1)),
    "-": onZoom && (() => onZoom(-1)),
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    const [columns, rows] = CELL_MOVES[key] ?? [page * (PAGE_MOVES[key] ?? 0), 0];
    const next = columns === 0 && rows === 0 ? undefined : move(columns, rows);
    if (next !== undefined) onCursor(next);
    else if (others[key]) others[key]();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <CursorArea {...(cellAt && pointer)} {...area} onKeyDown={onKeyDown}>
        <canvas ref={canvas} aria-hidden="true" />
      </CursorArea>
      <PointerCard on={canvas} at={cardAt}>
        {card}
      </PointerCard>
    </>
  );
}

/** Pixels of a wheel that counts lines. */
const LINE_PX = 16;

/** The wheel moves an area sideways, and zooms it with Ctrl. Rows that overflow are scrolled, Shift then pans. */
function usePanAndZoom(area: RefObject<HTMLElement | null>, { onPan, onZoom }: Panned): void {
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
    return element ? listen(element, { wheel: onWheel }, { passive: false }) : undefined;
  });
}
