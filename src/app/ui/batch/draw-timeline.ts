import { paneTurnOf } from "../../state/chat/request-name.ts";
import type { TimelineRow } from "../../state/batch/timeline-rows.ts";
import type { Cell, Timeline } from "../../state/batch/timeline.ts";
import { formatCount } from "../format.ts";
import { isOutlined } from "../pane-color.ts";
import { hatch, spriteOf } from "./sprites.ts";
import type { Surface } from "./use-canvas.ts";

// A row is a pane, a column a step:
//
//        18,180      18,200
//   1    = = # ▪ ▪ ▪ ▪ ▪ ▪      above: step numbers
//   2        - - - # # ▪ ▪
//        ▂ ▂ █ ▁ ▁ ▆ ▆ ▁ ▁      below: tokens a step

export const TOP_PX = 16;
/** Between the last row and the bars below it. */
const SUM_GAP_PX = 8;

/** Cells of tokens that somebody points at elsewhere. */
export interface Marked {
  readonly row: number;
  readonly fromStep: number;
  readonly toStep: number;
  /** Whether the pointer is on it, as a word of a text. */
  readonly isWord: boolean;
}

interface TimelineDrawing {
  readonly rows: readonly TimelineRow[];
  readonly stepPx: number;
  /** The first column; there are as many as fit. */
  readonly fromStep: number;
  readonly toStep: number;
  readonly timeline: Pick<Timeline, "rowsOf">;
  /** The pane whose sequences stand out; null if all are alike. */
  readonly highlightedPane: number | null;
  readonly cursor: { readonly step: number; readonly row: number } | null;
  readonly marked: Marked | null;
}

/** Returns a row's height: 24 px; 20 from seven rows on, 12 from nine. */
export function rowHeight(numRows: number): number {
  return numRows > 8 ? 12 : numRows > 6 ? 20 : 24;
}

/** Returns the height of the bars below the rows: 40 px, 24 from thirteen rows on, so that sixteen are in view with them. */
export function sumHeight(numRows: number): number {
  return numRows > 12 ? 24 : 40;
}

export function drawTimeline(surface: Surface, drawing: TimelineDrawing): void {
  const { g, colors } = surface;
  const { rows, stepPx, fromStep, toStep, highlightedPane, cursor, marked } = drawing;
  const rowPx = rowHeight(rows.length);
  drawGrid(surface, drawing);
  for (const [row, track] of rows.flatMap((tracks, at) => tracks.map((one) => [at, one] as const))) {
    const pane = paneTurnOf(track.id.requestId)?.pane ?? 0;
    const pen: Pen = { g, colors, hue: colors.panes[pane] ?? colors.ink2, isOpen: isOutlined(pane), rowPx, stepPx };
    g.globalAlpha = highlightedPane === null || highlightedPane === pane ? 1 : 0.2;
    const last = Math.min(toStep, track.endStep ?? toStep);
    for (let step = Math.max(fromStep, track.firstStep); step <= last; step++) {
      const cell = track.cellAt(step);
      if (cell) drawCell(pen, cell, (step - fromStep) * stepPx, TOP_PX + row * rowPx);
    }
  }
  g.globalAlpha = 1;
  drawSums(surface, drawing);
  const frame = (row: number, first: number, last: number) => {
    g.strokeStyle = colors.focus;
    g.lineWidth = 1.5;
    const widthPx = (last - first + 1) * stepPx;
    g.strokeRect((first - fromStep) * stepPx - 1, TOP_PX + row * rowPx + 0.5, widthPx + 1, rowPx - 1);
  };
  if (cursor) frame(cursor.row, cursor.step, cursor.step);
  if (marked) frame(marked.row, marked.fromStep, marked.toStep);
}

function drawGrid({ g, width, colors }: Surface, drawing: TimelineDrawing): void {
  const { rows, stepPx, fromStep, toStep } = drawing;
  const rowPx = rowHeight(rows.length);
  const end = TOP_PX + rows.length * rowPx;
  const every = 10 * Math.max(1, Math.round(9 / stepPx));
  g.font = `400 11px ${colors.sans}`;
  for (let step = Math.max(every, Math.ceil(fromStep / every) * every); step <= toStep; step += every) {
    const x = (step - fromStep) * stepPx;
    g.fillStyle = colors.line;
    g.fillRect(x - 1, TOP_PX - 2, 1, end - TOP_PX + sumHeight(rows.length));
    g.fillStyle = colors.ink3;
    if (step % (2 * every) === 0 && x + 48 < width) g.fillText(formatCount(step), x + 1, 10);
  }
  g.fillStyle = colors.line;
  for (let row = 1; row <= rows.length; row++) g.fillRect(0, TOP_PX + row * rowPx - 1, width, 1);
}

/** Draws under each step a bar of the tokens it computed; those of prompts are drawn apart. */
function drawSums({ g, width, colors }: Surface, drawing: TimelineDrawing): void {
  const { rows, stepPx, fromStep, toStep, timeline } = drawing;
  const sumPx = sumHeight(rows.length);
  const base = TOP_PX + rows.length * rowHeight(rows.length) + sumPx - 2;
  const scale = (sumPx - SUM_GAP_PX) / Math.max(8, mostRows(drawing));
  const barPx = Math.max(1, stepPx - 3);
  g.fillStyle = colors.ink2;
  for (let step = fromStep; step <= toStep; step++) {
    const sum = timeline.rowsOf(step);
    if (!sum) continue;
    const x = (step - fromStep) * stepPx + 1;
    const bar = (tokens: number) => (tokens === 0 ? 0 : Math.max(1.5, tokens * scale));
    const [decode, prompt] = [bar(sum.rows - sum.promptRows), bar(sum.promptRows)];
    g.fillRect(x, base - decode, barPx, decode);
    g.fillRect(x, base - decode - prompt - (decode && prompt ? 1 : 0), barPx, prompt);
  }
  g.fillStyle = colors.lineStrong;
  g.fillRect(0, base, width, 1);
}

function mostRows({ fromStep, toStep, timeline }: TimelineDrawing): number {
  let most = 0;
  for (let step = fromStep; step <= toStep; step++) most = Math.max(most, timeline.rowsOf(step)?.rows ?? 0);
  return most;
}

interface Pen extends Pick<Surface, "g" | "colors"> {
  readonly hue: string;
  /** Panes 9 to 16 are drawn open. */
  readonly isOpen: boolean;
  readonly rowPx: number;
  readonly stepPx: number;
}

function drawCell(pen: Pen, cell: Cell, x: number, y: number): void {
  const { g, colors, hue, rowPx, stepPx } = pen;
  const middle = y + rowPx / 2 - 0.5;
  g.fillStyle = hue;
  g.strokeStyle = hue;
  switch (cell.kind) {
    case "prompt":
      drawPrompt(pen, cell, x, y + 2, rowPx - 5);
      return;
    case "decode":
      drawSprite(pen, x, y);
      return;
    case "drafted":
      drawDrafted(pen, cell, x, y + 2, rowPx - 5);
      return;
    case "waiting":
      g.fillStyle = colors.ink3;
      g.fillRect(x + stepPx * 0.22, middle - 0.75, Math.max(1.5, stepPx * 0.45), 1.5);
      return;
    case "preempted": {
      const [half, centre] = [Math.min(3, rowPx / 4), x + stepPx / 2 - 0.5];
      g.strokeStyle = colors.bad;
      g.lineWidth = 1.75;
      g.beginPath();
      g.moveTo(centre - half, middle - half);
      g.lineTo(centre + half, middle + half);
      g.moveTo(centre + half, middle - half);
      g.lineTo(centre - half, middle + half);
      g.stroke();
      return;
    }
    case "finished":
      g.fillRect(x + Math.min(1, stepPx - 1), y + 2, 1, rowPx - 5);
      if (stepPx > 3) g.fillRect(x + 3.5, y + 2, Math.min(3, stepPx - 2), rowPx - 5);
  }
}

/** Draws a tall cell: solid for computed tokens; at its foot, hatched, the share found in the cache. */
function drawPrompt(
  { g, colors, isOpen, stepPx }: Pen,
  { rows, cachedTokens }: Extract<Cell, { kind: "prompt" }>,
  x: number,
  y: number,
  height: number,
): void {
  const width = Math.max(1.5, stepPx - 1);
  const share = cachedTokens / (cachedTokens + rows);
  // Both parts are always visible.
  const cachedPx = cachedTokens === 0 ? 0 : Math.max(4, Math.min(height - 3, Math.round(share * height)));
  g.beginPath();
  g.roundRect(x, y, width, height - cachedPx, 1.5);
  g.fill();
  if (isOpen && width > 5) {
    g.fillStyle = colors.surface;
    g.fillRect(x + width / 2 - 1, y + 2, 2, Math.max(0, height - cachedPx - 4));
  }
  if (cachedPx === 0) return;
  g.lineWidth = 1;
  g.strokeRect(x + 0.5, y + height - cachedPx + 1, width - 1, cachedPx - 1.5);
  hatch(g, x + 0.5, y + height - cachedPx + 1, width - 1, cachedPx - 1.5);
}

/** Draws a stack: at its foot the certain token, above it the drafts; accepted ones are solid, rejected ones a line. */
function drawDrafted(
  { g, stepPx }: Pen,
  { drafted, accepted }: Extract<Cell, { kind: "drafted" }>,
  x: number,
  y: number,
  height: number,
): void {
  const width = Math.max(1.5, Math.min(6, stepPx - 2));
  const pitch = Math.min(5, height / (1 + drafted));
  const gap = pitch > 3 ? 1 : 0;
  for (let place = 0; place <= drafted; place++) {
    const foot = y + height - place * pitch;
    if (place <= accepted) g.fillRect(x + 1, foot - pitch + gap, width, pitch - gap);
    else g.fillRect(x + 1, foot - pitch / 2 - 0.5, width, Math.min(1, pitch / 2));
  }
}

/** Draws a note, as nearly all cells are. */
function drawSprite(pen: Pen, x: number, y: number): void {
  const { g, hue, isOpen, rowPx, stepPx } = pen;
  const draw = (on: CanvasRenderingContext2D) => drawNote({ ...pen, g: on }, stepPx / 2 - 0.5, rowPx / 2 - 0.5);
  const sprite = spriteOf(`note ${hue} ${isOpen}`, stepPx, rowPx, draw);
  g.drawImage(sprite, x, y, sprite.width / devicePixelRatio, sprite.height / devicePixelRatio);
}

function drawNote({ g, hue, isOpen, rowPx, stepPx }: Pen, x: number, y: number): void {
  g.fillStyle = hue;
  g.strokeStyle = hue;
  const size = Math.min(6, stepPx - 1.5, rowPx - 4);
  if (size < 1) {
    // Far away, notes run together.
    g.fillRect(0, y - 2, stepPx, 4);
    return;
  }
  if (isOpen && size >= 4) {
    g.lineWidth = 1.5;
    g.beginPath();
    g.roundRect(x - size / 2 + 0.75, y - size / 2 + 0.75, size - 1.5, size - 1.5, 1.5);
    g.stroke();
    return;
  }
  g.beginPath();
  g.roundRect(x - size / 2, y - size / 2, size, size, Math.min(1.5, size / 3));
  g.fill();
}
