import { Fragment, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useStore } from "zustand";
import type { Pane } from "../../state/chat/pane.ts";
import { variantsAfter } from "../../state/chat/turn-tree.ts";
import { Button } from "../components/Button.tsx";
import { SCROLLS } from "../components/scrolls.ts";
import { formatCount, formatCounted } from "../format.ts";
import { EmptyPane } from "./EmptyPane.tsx";
import { TurnView } from "./TurnView.tsx";

/** Turns that are shown at first, and added with each request for more. Layout takes seconds for thousands. */
const TURNS_AT_ONCE = 100;

/** A reader this close to the end counts as being at the end, CSS pixels. */
const AT_END_PX = 4;

function isAtEnd({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean {
  return scrollTop + clientHeight >= scrollHeight - AT_END_PX;
}

/** A question and two lines of answer, with their margins, CSS pixels. */
const LEAST_ROOM_PX = 120;

/**
 * Sets how much of the visible log the earlier turns keep: the part that the newest turn probably doesn't need.
 * @param scrollTop the log stays high enough to be scrolled this far
 */
function makeRoom(log: HTMLElement | null, scrollTop = 0): void {
  const articles = [...(log?.querySelectorAll<HTMLElement>(":scope > article") ?? [])];
  const newest = articles.at(-1);
  // There is nothing above a first turn.
  if (!log || !newest?.previousElementSibling) return;
  const { clientHeight } = log;
  const above = newest.offsetTop - Number.parseFloat(getComputedStyle(log).paddingTop);
  const spare = clientHeight - Math.max(LEAST_ROOM_PX, articles.at(-2)?.offsetHeight ?? 0);
  const kept = above <= clientHeight - LEAST_ROOM_PX ? above : Math.min(above, spare);
  newest.style.setProperty("--above", `${Math.max(0, Math.min(kept, above - scrollTop))}px`);
}

/**
 * The conversation. A new turn reserves as much of the visible log as the turn before took, or all that the earlier turns leave
 * free. So short chats stay in view, the question after a long answer moves to the top, and lines move only once the log is
 * full. Following stops when the reader scrolls up.
 */
export function Conversation({ pane, place }: { pane: Pane; place: number }) {
  const turns = useStore(pane.store, (state) => state.turns);
  const inactiveTurns = useStore(pane.store, (state) => state.inactiveTurns);
  const variants = useMemo(() => variantsAfter(inactiveTurns), [inactiveTurns]);
  const contextStart = useStore(pane.store, (state) => state.contextStart);
  /** Turns before this one will not be sent with the next question. */
  const nextContextStart = useStore(pane.contextUse, (use) => use?.contextStart ?? 0);
  const isStreaming = useStore(pane.store, (state) => state.phase === "streaming");
  const asking = useStore(pane.asking);
  const [numShown, setNumShown] = useState(TURNS_AT_ONCE);
  const firstShown = Math.max(0, turns.length - numShown);
  const log = useRef<HTMLDivElement>(null);
  const newestId = turns.at(-1)?.id ?? null;
  /** The newest turn when the reader scrolled away; a newer one is followed again. */
  const [leftAt, setLeftAt] = useState<number | null>(null);
  const isFollowing = newestId !== null && (leftAt === null || leftAt !== newestId);

  /** The last known scroll position; null if the log was just opened and is at its end. */
  const knownTop = useRef<number | null>(null);
  const goToEnd = () => {
    if (log.current === null) return;
    log.current.scrollTop = log.current.scrollHeight;
    knownTop.current = log.current.scrollTop;
  };
  /** Whether the reader has scrolled away but the scroll event is still to come. */
  const hasLeft = () =>
    log.current !== null && log.current.scrollTop < (knownTop.current ?? 0) - AT_END_PX && !isAtEnd(log.current);
  useLayoutEffect(() => {
    makeRoom(log.current);
  }, [newestId, contextStart, firstShown]);
  /** Null if following is off, or begins with the next frame. */
  const observed = useRef<ResizeObserver | null>(null);
  useLayoutEffect(() => {
    if (observed.current && !hasLeft()) goToEnd();
  }, [turns]);
  // The log's height changes too: a note above the composer, a growing draft, another pane. The first report is of the height
  // that it has, for which the room is made already. It comes once the frame is laid out: a person who asks sixteen panes at
  // once doesn't wait for that.
  useLayoutEffect(() => {
    if (!isFollowing || log.current === null) return;
    let height: number | null = null;
    const observer = new ResizeObserver(() => {
      if (height !== null && log.current?.clientHeight !== height) makeRoom(log.current);
      height = log.current?.clientHeight ?? 0;
      goToEnd();
    });
    observer.observe(log.current);
    observed.current = observer;
    return () => {
      observer.disconnect();
      observed.current = null;
    };
  }, [isFollowing]);

  // A pane that is moved on the page loses its scroll position.
  useLayoutEffect(() => {
    if (log.current && knownTop.current !== null) log.current.scrollTop = knownTop.current;
  }, [place]);

  const onScroll = () => {
    if (log.current === null) return;
    knownTop.current = log.current.scrollTop;
    setLeftAt(isAtEnd(log.current) ? null : newestId);
  };

  /** The turn stays where it is on the screen, and in the page. */
  const choose = useCallback(
    (turnId: number) => {
      const numBefore = pane.store.getState().turns.length;
      const scrollTop = log.current?.scrollTop ?? 0;
      let newest: number | null = null;
      flushSync(() => {
        pane.chooseTurn(turnId);
        const { turns: path } = pane.store.getState();
        newest = path.at(-1)?.id ?? null;
        setLeftAt(newest);
        setNumShown((shown) => shown + Math.max(0, path.length - numBefore));
      });
      if (log.current === null) return;
      makeRoom(log.current, scrollTop);
      log.current.scrollTop = scrollTop;
      if (isAtEnd(log.current)) setLeftAt(null);
    },
    [pane],
  );
  return (
    // Its size is the pane's: streaming text causes no layout outside.
    <div className="relative min-h-0 flex-1 [contain:strict]">
      <div
        ref={log}
        className="h-full overflow-auto overscroll-contain px-[max(16px,calc((100%_-_600px)/2))] pt-4 pb-2 [overflow-anchor:none] focus-visible:-outline-offset-2"
        role="log"
        aria-label="Conversation"
        aria-live="off"
        aria-busy={isStreaming}
        {...SCROLLS}
        onScroll={onScroll}
      >
        {turns.length === 0 && <EmptyPane pane={pane} isFirst={place === 0} />}
        {firstShown > 0 && (
          <Button look="quiet" onClick={() => setNumShown(numShown + TURNS_AT_ONCE)}>
            Show {Math.min(TURNS_AT_ONCE, firstShown)} of {formatCount(firstShown)} earlier turns
          </Button>
        )}
        {turns.map(
          (turn, index) =>
            index >= firstShown && (
              // Variants replace each other.
              <Fragment key={turns[index - 1]?.id ?? "first"}>
                {index === contextStart && index > 0 && (
                  <p className="row small mb-4 text-center before:h-px before:min-w-3 before:flex-1 before:bg-line-strong after:h-px after:min-w-3 after:flex-1 after:bg-line-strong">
                    <span>Earlier messages are no longer sent to the model ({formatCounted(index, "turn")})</span>
                  </p>
                )}
                <TurnView
                  pane={pane}
                  turn={turn}
                  variants={variants.get(turns[index - 1]?.id ?? null)}
                  isNewest={index === turns.length - 1}
                  isLeftOut={index < contextStart || index < nextContextStart}
                  asking={asking}
                  onChoose={choose}
                />
              </Fragment>
            ),
        )}
      </div>
      {newestId !== null && !isFollowing && (
        <Button
          icon="down"
          className="absolute bottom-2 left-1/2 [transform:translateX(-50%)] rounded-[16px] shadow-2"
          onClick={() => setLeftAt(null)}
        >
          Latest
        </Button>
      )}
    </div>
  );
}
