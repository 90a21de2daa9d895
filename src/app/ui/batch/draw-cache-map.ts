import { KV_BLOCK_STATES, type KvCacheMap, type SequenceId } from "../../../index.ts";
import { paneTurnOf } from "../../state/chat/request-name.ts";
import { hatch } from "./sprites.ts";
import type { Surface } from "./use-canvas.ts";
import { isOutlined } from "../pane-color.ts";

const BLOCK_SIZES_PX = [12, 10, 9, 8, 6, 5];
const SMALLEST_PX = 4;
/** The smallest blocks with numbers on them. */
const NUMBERED_PX = 8;

export type MapLayout = Readonly<ReturnType<typeof layoutOf>>;

/** Returns the layout of blocks of a size: rows from the upper left. */
function layoutOf(numBlocks: number, widthPx: number, blockPx: number) {
  const gapPx = blockPx > 9 ? 2 : 1;
  const columns = Math.max(1, Math.floor((widthPx + gapPx) / (blockPx + gapPx)));
  return { columns, blockPx, gapPx, heightPx: Math.ceil(numBlocks / columns) * (blockPx + gapPx) };
}

/** Returns the layout with the largest blocks that fit; with the smallest ones if none do, and the map then overflows. */
export function layOutMap(numBlocks: number, widthPx: number, roomPx: number): MapLayout {
  const fitting = BLOCK_SIZES_PX.find((blockPx) => layoutOf(numBlocks, widthPx, blockPx).heightPx <= roomPx);
  return layoutOf(numBlocks, widthPx, fitting ?? SMALLEST_PX);
}

/** Returns the first sequence of those that share a block; null for none. */
export function ownerOf(map: KvCacheMap, block: number): SequenceId | null {
  return map.sequences[map.owners[block] ?? -1] ?? null;
}

interface MapDrawing {
  readonly map: KvCacheMap;
  readonly layout: MapLayout;
  readonly highlightedPane: number | null;
  /** The block with the cursor. */
  readonly cursor: number | null;
}

export function drawCacheMap(
  { g, colors }: Pick<Surface, "g" | "colors">,
  { map, layout, highlightedPane, cursor }: MapDrawing,
): void {
  const { columns, blockPx: size, gapPx } = layout;
  g.textAlign = "center";
  g.font = `600 ${Math.min(9, size - 1)}px ${colors.sans}`;
  let before: string | undefined;
  for (const [block, state] of map.states.entries()) {
    const x = (block % columns) * (size + gapPx);
    const y = Math.floor(block / columns) * (size + gapPx);
    const owner = ownerOf(map, block);
    const pane = owner ? (paneTurnOf(owner.requestId)?.pane ?? 0) : null;
    const refCount = map.refCounts[block] ?? 0;
    g.globalAlpha = highlightedPane === null || highlightedPane === pane || refCount > 1 ? 1 : 0.2;
    const brush: Brush = { g, colors, x, y, size };
    if (KV_BLOCK_STATES[state] === "free") outline(brush, colors.line);
    else if (KV_BLOCK_STATES[state] === "cached") cachedBlock(brush);
    else if (refCount > 1) sharedBlock(brush, refCount);
    else {
      const share = (map.filledTokens[block] ?? 0) / map.blockSize;
      ownBlock(brush, pane ?? 0, share, owner?.requestId !== before);
    }
    before = refCount > 1 ? undefined : owner?.requestId;
    if (block !== cursor) continue;
    g.globalAlpha = 1;
    g.strokeStyle = colors.focus;
    g.lineWidth = 2;
    g.strokeRect(x - 1, y - 1, size + 2, size + 2);
  }
  g.globalAlpha = 1;
}

interface Brush extends Pick<Surface, "g" | "colors"> {
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

function outline({ g, x, y, size }: Brush, color: string): void {
  g.strokeStyle = color;
  g.lineWidth = 1;
  g.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
}

function cachedBlock(brush: Brush): void {
  const { g, colors, x, y, size } = brush;
  g.strokeStyle = colors.ink3;
  g.lineWidth = 1;
  hatch(g, x, y, size, size);
  outline(brush, colors.lineStrong);
}

/** A shared block: ink, with the number of sequences that share it. */
function sharedBlock(brush: Brush, refCount: number): void {
  const { g, colors, x, y, size } = brush;
  g.fillStyle = colors.ink;
  fillRounded(brush);
  if (size >= NUMBERED_PX) write(brush, `${refCount}`, colors.onInk);
  else g.clearRect(x + size / 2 - 1, y + size / 2 - 1, 2, 2);
}

/** An owned block: the pane's hue, filled as far as it is full, with the pane's number on the first of a run. */
function ownBlock(brush: Brush, pane: number, share: number, isFirst: boolean): void {
  const { g, colors, x, y, size } = brush;
  const hue = colors.panes[pane] ?? colors.ink2;
  g.fillStyle = hue;
  g.strokeStyle = hue;
  if (share < 1) {
    g.lineWidth = 1;
    g.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
    g.fillRect(x, y + size * (1 - share), size, size * share);
  } else if (isOutlined(pane) && !(isFirst && size >= NUMBERED_PX)) {
    const line = size > 6 ? 2.5 : 1.5;
    g.lineWidth = line;
    g.strokeRect(x + line / 2, y + line / 2, size - line, size - line);
  } else {
    fillRounded(brush);
    if (isFirst && size >= NUMBERED_PX && pane > 0) write(brush, `${pane}`, colors.onPane);
  }
}

function fillRounded({ g, x, y, size }: Brush): void {
  g.beginPath();
  g.roundRect(x, y, size, size, size > 6 ? 2 : 1);
  g.fill();
}

function write({ g, x, y, size }: Brush, text: string, color: string): void {
  g.fillStyle = color;
  g.textBaseline = "middle";
  g.fillText(text, x + size / 2, y + size / 2 + 0.5, size);
}
