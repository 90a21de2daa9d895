import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useImperativeHandle, useRef, useState, type KeyboardEvent, type ReactNode, type Ref } from "react";

export interface VirtualListHandle {
  /** Moves the focus to the first line that has a button, from this one on. */
  focus: (index: number) => void;
  scrollTo: (index: number) => void;
}

interface VirtualListProps<Line> {
  ref?: Ref<VirtualListHandle>;
  /** Accessible name. */
  name: string;
  lines: readonly Line[];
  /** CSS pixels. */
  heightOf: (line: Line) => number;
  keyOf: (line: Line) => string;
  /** Whether the line has a button, which the arrow keys lead to. */
  hasButton: (line: Line) => boolean;
  /** The focus leaves the first line upwards. */
  onLeave?: () => void;
  children: (line: Line) => ReactNode;
}

/** A list that scrolls. Of thousands of lines only those in view are in the page. */
export function VirtualList<Line>({
  ref,
  name,
  lines,
  heightOf,
  keyOf,
  hasButton,
  onLeave,
  children,
}: VirtualListProps<Line>) {
  const scroller = useRef<HTMLDivElement>(null);
  const ofLine = <Value,>(index: number, read: (line: Line) => Value, otherwise: Value) =>
    lines[index] === undefined ? otherwise : read(lines[index]);
  // It returns functions that change, which the React Compiler would not like. It is not used here.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ofLine(index, heightOf, 0),
    getItemKey: (index) => ofLine(index, keyOf, ""),
    overscan: 6,
  });

  /** The line that gets the focus once it is in the page. */
  const [focusIndex, setFocusIndex] = useState<number | null>(null);
  const inView = virtualizer.getVirtualItems();
  useEffect(() => {
    if (focusIndex === null) return;
    const button = scroller.current?.querySelector<HTMLElement>(`[data-index="${focusIndex}"] button`);
    if (!button) return;
    button.focus();
    setFocusIndex(null);
  }, [focusIndex, inView]);
  const go = (from: number, step: number) => {
    let next = from + step;
    while (next in lines && !ofLine(next, hasButton, false)) next += step;
    if (next < 0) onLeave?.();
    if (!(next in lines)) return;
    virtualizer.scrollToIndex(next);
    setFocusIndex(next);
  };
  useImperativeHandle(ref, () => ({
    focus: (index) => go(index - 1, 1),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  }));
  const onKeyDown = (event: KeyboardEvent) => {
    const line = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-index]") : null;
    if (line === null) return;
    const index = Number(line.dataset["index"]);
    const moves: Record<string, [from: number, step: number]> = {
      ArrowDown: [index, 1],
      ArrowUp: [index, -1],
      Home: [-1, 1],
      End: [lines.length, -1],
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    go(...move);
  };
  return (
    <div ref={scroller} className="min-h-0 min-w-0 flex-1 overflow-auto overscroll-contain">
      {/* The buttons in it have the focus. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <ul className="relative" aria-label={name} style={{ height: virtualizer.getTotalSize() }} onKeyDown={onKeyDown}>
        {inView.map(({ key, index, start, size }) => (
          <li
            key={key}
            className="absolute inset-x-0 top-0 flex items-stretch px-[calc(var(--edge)/2)]"
            data-index={index}
            aria-setsize={lines.length}
            aria-posinset={index + 1}
            style={{ height: size, transform: `translateY(${start}px)` }}
          >
            {ofLine<ReactNode>(index, children, null)}
          </li>
        ))}
      </ul>
    </div>
  );
}
