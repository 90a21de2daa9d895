import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import { KV_BLOCK_STATES, type KvCacheMap } from "../../../index.ts";
import type { Batch } from "../../state/batch/batch.ts";
import type { BlockContent } from "../../state/batch/cache-map.ts";
import { paneTurnOf, keyOfSequence, nameIn } from "../../state/chat/request-name.ts";
import { classNames } from "../class-names.ts";
import { formatCount } from "../format.ts";
import { onResize } from "../listen.ts";
import { sequenceName } from "./cell-facts.ts";
import type { Anchor } from "../components/PointerCard.tsx";
import type { BatchView } from "../chat/pane-links.ts";
import { drawCacheMap, layOutMap, ownerOf, type MapLayout } from "./draw-cache-map.ts";
import { Panel } from "./Panel.tsx";
import { Plot } from "./Plot.tsx";
import type { Point } from "./use-pointer-cursor.ts";
import { DataTable } from "../components/DataTable.tsx";

const NO_BLOCKS: KvCacheMap = {
  blockSize: 16,
  states: new Uint8Array(),
  refCounts: new Uint16Array(),
  owners: new Int32Array(),
  filledTokens: new Uint8Array(),
  sequences: [],
};

const SIGNS: readonly (readonly [name: string, look: string, number?: number])[] = [
  ["shared by 2", "bg-ink text-center text-on-ink [font:600_8px/10px_var(--sans)]", 2],
  [
    "cached",
    "bg-[repeating-linear-gradient(135deg,var(--color-ink-3)_0_1px,transparent_1px_4px)] [box-shadow:inset_0_0_0_1px_var(--color-line-strong)]",
  ],
  ["free", "[box-shadow:inset_0_0_0_1px_var(--color-control)]"],
];

/** A map of the key/value cache: each block with the panes that use it. */
export function CacheBlocksPanel({ batch, linkTo }: Omit<BatchView, "tokenOf">) {
  const { cacheMap, dock, pointing, timeline } = batch;
  const map = useStore(cacheMap.store) ?? NO_BLOCKS;
  const highlightedPane = useStore(dock.store, (state) => state.highlightedPane);
  const room = useRef<HTMLDivElement>(null);
  const [layout, setLayout] = useState<MapLayout>(() => layOutMap(0, 280, 180));
  const [cursor, setCursor] = useState<number | null>(null);
  const content = useContentOf(batch, map, cursor);
  const numBlocks = map.states.length;

  useEffect(() => {
    return cacheMap.watchWhileVisible();
  }, [cacheMap]);
  useEffect(() => {
    const element = room.current;
    if (!element) return;
    return onResize(element, () => setLayout(layOutMap(numBlocks, element.clientWidth, element.clientHeight)));
  }, [numBlocks]);

  const point = (block: number | null) => {
    const owner = block === null ? null : ownerOf(map, block);
    setCursor(block);
    dock.highlight((owner && paneTurnOf(owner.requestId)?.pane) ?? null);
  };
  // Marks the words in their text, and their steps on the timeline.
  useEffect(() => {
    const { sequence = null, start = null, numTokens = 0 } = content ?? {};
    const track = sequence && timeline.findTrack((id) => keyOfSequence(id) === keyOfSequence(sequence));
    const from = (start ?? 0) - (track?.promptTokens ?? Infinity);
    if (!sequence || from + numTokens <= 0) return;
    const { index } = sequence;
    const outputs = { from: Math.max(0, from), to: from + numTokens };
    pointing.point({ requestName: nameIn(sequence.requestId), index, ...outputs, by: "map" });
    return () => pointing.leave("map");
  }, [content, pointing, timeline]);

  const pitch = layout.blockPx + layout.gapPx;
  const blockAt = ({ x, y }: Point) => {
    const column = Math.floor(x / pitch);
    const block = Math.floor(y / pitch) * layout.columns + column;
    return column < layout.columns && block < numBlocks ? block : null;
  };
  const goTo = () => {
    const owner = cursor === null ? null : ownerOf(map, cursor);
    if (owner) linkTo(owner.requestId)?.();
  };
  const move = (columns: number, rows: number) => {
    const next = cursor === null ? 0 : cursor + columns + rows * layout.columns;
    return next in map.states ? next : undefined;
  };

  const words = cursor === null ? "No block" : blockWords(map, cursor);
  const count = (name: (typeof KV_BLOCK_STATES)[number]) =>
    map.states.reduce((sum, state) => sum + Number(KV_BLOCK_STATES[state] === name), 0);
  return (
    <Panel
      name="Cache blocks"
      head={
        <ul className="ml-auto flex gap-1.5 max-sm:ml-0">
          {SIGNS.map(([name, look, number]) => (
            <li key={name} className="row gap-1">
              <i className={classNames("size-2.5 rounded-xs", look)}>{number}</i>
              {name}
            </li>
          ))}
        </ul>
      }
    >
      <div ref={room} className="min-h-0 min-w-0 flex-1 overflow-x-hidden overflow-y-auto max-sm:h-40 max-sm:flex-none">
        <Plot
          style={{ height: layout.heightPx }}
          label="Block"
          hint="Arrow keys move from block to block, Enter goes to the pane."
          value={cursor ?? 0}
          max={Math.max(0, numBlocks - 1)}
          words={content === null ? words : `${words}: “${content.text}”`}
          draw={(surface) => drawCacheMap(surface, { map, layout, highlightedPane, cursor })}
          cursor={cursor}
          onCursor={point}
          cellAt={blockAt}
          move={move}
          onGo={goTo}
          cardAt={content && cursor !== null ? () => anchorOf(layout, cursor) : null}
          card={
            content && (
              <p>
                <code>{content.text}</code>
              </p>
            )
          }
        />
      </div>
      <p className="row small h-5.5 justify-between overflow-hidden pt-1.5 whitespace-nowrap">
        {numBlocks === 0 ? (
          "No blocks until the model is ready"
        ) : cursor === null || cursor >= numBlocks ? (
          <>
            <span>
              <b>{formatCount(count("used"))}</b> in use, <b>{formatCount(count("cached"))}</b> cached, of{" "}
              <b>{formatCount(numBlocks)}</b>
            </span>
            <span>{map.blockSize} tokens each</span>
          </>
        ) : (
          words
        )}
      </p>
      <CacheBlocksTable map={map} />
    </Panel>
  );
}

/** Returns the content of the block under the cursor, read again with each new map. */
function useContentOf({ cacheMap }: Batch, map: KvCacheMap, block: number | null): BlockContent | null {
  const [read, setRead] = useState<{ readonly block: number; readonly content: BlockContent | null } | null>(null);
  useEffect(() => {
    if (block === null) return;
    let isOver = false;
    void cacheMap.contentOf(block).then((content) => {
      const now = { block, content };
      if (!isOver) setRead((before) => (JSON.stringify(before) === JSON.stringify(now) ? before : now));
    });
    return () => void (isOver = true);
  }, [cacheMap, map, block]);
  return read?.block === block ? read.content : null;
}

function anchorOf({ columns, blockPx, gapPx }: MapLayout, block: number): Anchor {
  const top = Math.floor(block / columns) * (blockPx + gapPx);
  return { left: (block % columns) * (blockPx + gapPx), top, bottom: top + blockPx };
}

function blockWords(map: KvCacheMap, block: number): string {
  const name = `Block ${formatCount(block)}`;
  const state = KV_BLOCK_STATES[map.states[block] ?? 0];
  const owner = ownerOf(map, block);
  if (state !== "used" || owner === null)
    return state === "cached" ? `${name}: cached, free to reuse` : `${name}: free`;
  const refCount = map.refCounts[block] ?? 0;
  if (refCount > 1) return `${name}: shared by ${refCount}, first ${sequenceName(owner)}`;
  return `${name}: ${sequenceName(owner)}, ${map.filledTokens[block]} of ${map.blockSize} tokens`;
}

/** The map as a table for screen readers. A shared block counts for the first sequence that has it. */
function CacheBlocksTable({ map }: { map: KvCacheMap }) {
  const rows = map.sequences.map((id) => ({ id, blocks: 0, shared: 0, tokens: 0 }));
  for (const [block, owner] of map.owners.entries()) {
    const row = rows[owner];
    if (!row) continue;
    row.blocks += 1;
    row.shared += Number((map.refCounts[block] ?? 0) > 1);
    row.tokens += map.filledTokens[block] ?? 0;
  }
  return (
    <DataTable
      caption="Cache blocks by sequence"
      columns={["Sequence", "Blocks", "Shared blocks", "Tokens"]}
      rows={rows.map(({ id, ...counts }) => [sequenceName(id), ...Object.values(counts).map(formatCount)])}
    />
  );
}
