import { useMemo, type PointerEvent } from "react";
import { useStore } from "zustand";
import { IconButton } from "../components/Button.tsx";
import { cellSentence, type CellFacts, sequenceName, turnName, cellWords } from "./cell-facts.ts";
import type { BatchView } from "../chat/pane-links.ts";
import { drawTimeline, rowHeight, sumHeight, TOP_PX } from "./draw-timeline.ts";
import { Panel } from "./Panel.tsx";
import { Plot } from "./Plot.tsx";
import { TimelineLegend } from "./TimelineLegend.tsx";
import { TimelineView } from "./timeline-view.ts";
import type { SequenceId } from "../../../index.ts";
import { paneTurnOf } from "../../state/chat/request-name.ts";
import { PaneBadge } from "../components/PaneBadge.tsx";
import type { Batch } from "../../state/batch/batch.ts";
import type { Timeline, Track } from "../../state/batch/timeline.ts";
import { DataTable } from "../components/DataTable.tsx";
import { formatCount } from "../format.ts";
import type { Surface } from "./use-canvas.ts";

const ZOOMS = [
  { name: "Zoom out", direction: -1, icon: "minus", title: "Zoom out (−)" },
  { name: "Zoom in", direction: 1, icon: "plus", title: "Zoom in (+)" },
] as const;

/** The batch as a score: one row per sequence, one column per step. */
export function TimelinePanel({ batch, linkTo, tokenOf }: BatchView) {
  const { timeline, dock, pointing } = batch;
  const view = useMemo(() => new TimelineView(batch), [batch]);
  const { highlightedPane } = useStore(dock.store);
  const labels = useStore(view.store, (state) => state.labels);
  const cursor = useStore(view.store, (state) => state.cursor);
  const card = useStore(view.store, (state) => state.card);
  // While nothing runs, only this says that another part is to be drawn.
  useStore(view.store, (state) => state.heldStep);
  const rowPx = rowHeight(labels.length);
  const goToCursor = () => {
    const track = cursor && view.trackAt(cursor);
    if (track) linkTo(track.id.requestId)?.();
  };
  return (
    <Panel
      name="Timeline"
      head={
        <>
          <TimelineLegend />
          <div className="-mr-1.5 flex flex-none max-sm:hidden">
            {ZOOMS.map(({ name, direction, icon, title }) => (
              <IconButton
                icon={icon}
                key={name}
                name={name}
                title={title}
                // Not `disabled`: zooming with the keyboard would lose the focus at the limit.
                aria-disabled={!dock.canZoom(direction)}
                onClick={() => dock.zoom(direction)}
              />
            ))}
          </div>
        </>
      }
    >
      <div className="min-h-0 min-w-0 flex-1 overflow-x-hidden overflow-y-auto" data-scrolls="">
        <div
          className="relative grid [grid-template:100%_/_76px_minmax(0,1fr)]"
          style={{ height: TOP_PX + labels.length * rowPx + sumHeight(labels.length) }}
        >
          <ol style={{ paddingTop: TOP_PX }}>
            {labels.map((track, row) => (
              <li key={row} className="flex items-center t-11 font-normal text-ink-3" style={{ height: rowPx }}>
                {track && <TimelineRowLabel id={track.id} isSmall={rowPx < 20} onGoTo={linkTo(track.id.requestId)} />}
              </li>
            ))}
            {labels.length > 0 && (
              <li
                className="flex items-center t-11 leading-3 font-normal text-ink-3"
                style={{ height: sumHeight(labels.length) }}
              >
                tokens
                <br />
                per step
              </li>
            )}
          </ol>
          <Plot
            // A finger moves it sideways; up and down scrolls the page.
            className="[touch-action:pan-y_pinch-zoom]"
            label="Step and sequence"
            hint="Arrow keys move from cell to cell, Home and End to the oldest and the newest, Enter goes to the pane, plus and minus zoom, Space pauses."
            value={cursor?.step ?? timeline.lastStep}
            max={timeline.lastStep + 1}
            words={cursor && card ? cellSentence(card.facts) : "No cell"}
            sources={[timeline, pointing.store]}
            draw={(surface) => {
              const shown = view.update(surface.width, tokenOf);
              const { stepPx } = dock.store.getState();
              drawTimeline(surface, { ...shown, stepPx, timeline, highlightedPane });
            }}
            cursor={cursor}
            onCursor={(place) => view.placeCursor(place)}
            cellAt={(point) => view.placeAt(point)}
            move={(columns, rows) => view.placeFrom(columns, rows)}
            onGo={goToCursor}
            onPan={(px) => view.pan(px)}
            onZoom={(direction) => dock.zoom(direction)}
            onSpace={() => dock.togglePause()}
            cardAt={card && (() => card.at)}
            card={card && <TimelineCard facts={card.facts} />}
          />
        </div>
        {labels.length === 0 && <p className="small py-3">Every answer gets a row here.</p>}
      </div>
      <TimelineMinimap batch={batch} view={view} />
      <TimelineTable batch={batch} />
    </Panel>
  );
}

function TimelineCard({ facts: { tokens, sequence, what, step, others } }: { facts: CellFacts }) {
  return (
    <>
      {tokens.length > 0 && (
        <p>
          {tokens.map(({ text, share }, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- two tokens may have the same text
            <span key={index}>
              {index > 0 && ", "}
              <code>{text}</code> <b>{share}</b>
            </span>
          ))}
        </p>
      )}
      <p>
        {sequence}: {what}
      </p>
      <p>
        {step}
        {others !== "" && `, ${others}`}
      </p>
    </>
  );
}

/** The label of a row; a button if its pane can be focused. */
function TimelineRowLabel({ id, isSmall, onGoTo }: { id: SequenceId; isSmall: boolean; onGoTo: (() => void) | null }) {
  const paneTurn = paneTurnOf(id.requestId);
  if (!paneTurn) return <span className="min-w-0 truncate">{isSmall ? "…" : "other"}</span>;
  const { pane } = paneTurn;
  const label = {
    className: "bare row gap-1.5 h-full rounded-xs whitespace-nowrap",
    "data-highlight": pane,
    title: sequenceName(id),
  };
  const words = (
    <>
      <span className="sr-only">{onGoTo ? "Go to Pane " : "Pane "}</span>
      <PaneBadge
        number={pane}
        className={isSmall ? "h-2.75 rounded-[3px] text-[9px] tracking-[-0.02em]" : "h-4 rounded-[3px]"}
      />
      <span className={isSmall ? "sr-only" : undefined}> {turnName(paneTurn)}</span>
    </>
  );
  if (!onGoTo) return <span {...label}>{words}</span>;
  return (
    <button type="button" {...label} onClick={onGoTo}>
      {words}
    </button>
  );
}

/** Number of newest steps in the table. */
const STEPS = 100;

const COLUMNS = [
  "Sequence",
  "Now",
  "Prompt tokens computed",
  "Found in the cache",
  "Decode steps",
  "Tokens drafted",
  "Drafted tokens accepted",
  "Steps waited",
  "Preempted",
];

/** The timeline as a table for screen readers. */
function TimelineTable({ batch: { metrics, timeline } }: { batch: Batch }) {
  // At most four times per second, with the figures: a table that is being read must not change with every step.
  const step = useStore(metrics.store, (figures) => figures.step);
  const from = Math.max(1, step - STEPS + 1);
  const caption = `Timeline, steps ${formatCount(from)} to ${formatCount(step)}`;
  const rows = timeline.tracksIn(from, step).map((track) => rowOf(track, from, timeline));
  return <DataTable caption={caption} columns={COLUMNS} rows={rows} />;
}

function rowOf(track: Track, from: number, timeline: Timeline): readonly string[] {
  const count = { promptTokens: 0, cachedTokens: 0, decode: 0, drafted: 0, accepted: 0, waiting: 0, preempted: 0 };
  for (let step = Math.max(from, track.firstStep); step <= timeline.lastStep; step++) {
    const cell = track.cellAt(step);
    if (cell?.kind === "prompt") {
      count.promptTokens += cell.rows;
      count.cachedTokens += cell.cachedTokens;
    } else if (cell?.kind === "drafted") {
      count.decode += 1;
      count.drafted += cell.drafted;
      count.accepted += cell.accepted;
    } else if (cell && cell.kind !== "finished") count[cell.kind] += 1;
  }
  const now = cellWords(track.cellAt(track.endStep ?? timeline.lastStep));
  return [sequenceName(track.id), now, ...Object.values(count).map(formatCount)];
}

/** Columns that an arrow key moves the window by. */
const ARROW_STEPS = 10;

/** All steps that are remembered, and the part that the timeline shows, which can be moved. */
function TimelineMinimap({ batch: { timeline, metrics }, view }: { batch: Batch; view: TimelineView }) {
  // At most four times per second, with the figures.
  const lastStep = useStore(metrics.store, (figures) => figures.step);
  const heldStep = useStore(view.store, (state) => state.heldStep);
  const marked = useStore(view.store, (state) => state.marked?.fromStep ?? null);
  const shown = () => view.store.getState();
  const numShown = () => shown().toStep - shown().fromStep + 1;
  const follow = ({ buttons, currentTarget, clientX, pointerId }: PointerEvent<HTMLElement>) => {
    if ((buttons & 1) === 0) return;
    currentTarget.setPointerCapture(pointerId);
    const { left, width } = currentTarget.getBoundingClientRect();
    const step = timeline.firstStep + Math.floor((clientX - left) / scaleOf(timeline, width));
    view.panTo(Math.round(step + numShown() / 2));
  };
  const last = Math.min(timeline.lastStep, heldStep ?? lastStep);
  const from = Math.max(timeline.firstStep, last - numShown() + 1);
  return (
    <Plot<number>
      className="mt-1 ml-19 h-6 flex-none cursor-grab touch-none rounded-xs"
      label="Part of the timeline"
      hint="Arrow keys and Page Up and Page Down move it, Home goes to the oldest step, End to the newest."
      value={last}
      max={timeline.lastStep}
      words={
        last < from
          ? "No steps"
          : `Steps ${formatCount(from)} to ${formatCount(last)} of ${formatCount(timeline.lastStep)}`
      }
      sources={[timeline]}
      draw={(surface) => drawMinimap(surface, timeline, shown(), marked)}
      cursor={null}
      onCursor={(step) => step !== null && view.panTo(step)}
      // What is drawn may be a key behind.
      move={(columns, rows) => (rows === 0 ? Math.round(view.lastShown + ARROW_STEPS * columns) : undefined)}
      page={numShown() / ARROW_STEPS}
      onPointerDown={follow}
      onPointerMove={follow}
    />
  );
}

/** Few steps are not stretched over the whole width: a step is at most this wide, CSS pixels. */
const WIDEST_STEP_PX = 3;

/** Returns the width of a step, for all kept steps and the column after them: steps are bars of the tokens they computed. */
function scaleOf(timeline: Timeline, width: number): number {
  return Math.min(WIDEST_STEP_PX, width / (timeline.lastStep - timeline.firstStep + 2));
}

function drawMinimap(
  { g, width, height, colors }: Surface,
  timeline: Timeline,
  { fromStep, toStep }: { fromStep: number; toStep: number },
  marked: number | null,
): void {
  const { firstStep, lastStep } = timeline;
  const scale = scaleOf(timeline, width);
  const x = (step: number) => (step - firstStep) * scale;
  // One bar a pixel: its tallest step.
  const bars = new Float64Array(Math.ceil(width));
  let most = 8;
  for (let step = firstStep; step <= lastStep; step++) {
    const rows = timeline.rowsOf(step)?.rows ?? 0;
    const at = Math.floor(x(step));
    bars[at] = Math.max(bars[at] ?? 0, rows);
    most = Math.max(most, rows);
  }
  g.fillStyle = colors.surface2;
  g.fillRect(0, 0, width, height);
  const left = Math.max(0, x(fromStep));
  const right = Math.min(width, Math.max(left + 4, x(toStep + 1)));
  g.fillStyle = colors.surface;
  g.fillRect(left, 0, right - left, height);
  g.fillStyle = colors.ink3;
  const barPx = Math.max(1, Math.floor(scale));
  for (const [at, rows] of bars.entries()) {
    const tall = rows === 0 ? 0 : Math.max(1, (rows / most) * (height - 3));
    if (tall > 0) g.fillRect(at, height - 1 - tall, barPx, tall);
  }
  g.strokeStyle = colors.control;
  g.lineWidth = 1;
  g.strokeRect(left + 0.5, 0.5, Math.max(3, right - left - 1), height - 1);
  if (marked === null) return;
  g.fillStyle = colors.focus;
  g.fillRect(x(marked) - 0.5, 0, Math.max(2, scale), height);
}
