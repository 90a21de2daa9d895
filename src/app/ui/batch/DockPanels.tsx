import type { Batch } from "../../state/batch/batch.ts";
import type { PaneLinks } from "../chat/pane-links.ts";
import { HAS_ROOM_FOR_MAP, useMedia } from "../use-media.ts";
import { CacheBlocksPanel } from "./CacheBlocksPanel.tsx";
import type { TokenLookup } from "./cell-facts.ts";
import { ChartsPanel } from "./ChartsPanel.tsx";
import { TimelinePanel } from "./TimelinePanel.tsx";

interface DockPanelsProps {
  batch: Batch;
  linkTo: PaneLinks;
  tokenOf: TokenLookup;
}

/** Timeline, charts and, where there is room, the cache map. */
export function DockPanels({ batch, linkTo, tokenOf }: DockPanelsProps) {
  const hasMap = useMedia(HAS_ROOM_FOR_MAP);
  return (
    <>
      <TimelinePanel batch={batch} linkTo={linkTo} tokenOf={tokenOf} />
      <ChartsPanel batch={batch} />
      {hasMap && <CacheBlocksPanel batch={batch} linkTo={linkTo} />}
    </>
  );
}
