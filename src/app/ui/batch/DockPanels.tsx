import { useEffect } from "react";
import type { Batch } from "../../state/batch/batch.ts";
import type { BatchView } from "../chat/pane-links.ts";
import { listen } from "../listen.ts";
import { HAS_ROOM_FOR_MAP, useMedia } from "../use-media.ts";
import { CacheBlocksPanel } from "./CacheBlocksPanel.tsx";
import { ChartsPanel } from "./ChartsPanel.tsx";
import { TimelinePanel } from "./TimelinePanel.tsx";

export function DockPanels({ batch, linkTo, tokenOf }: BatchView) {
  useHighlightOnHover(batch);
  const hasMap = useMedia(HAS_ROOM_FOR_MAP);
  return (
    <>
      <TimelinePanel batch={batch} linkTo={linkTo} tokenOf={tokenOf} />
      <ChartsPanel batch={batch} />
      {hasMap && <CacheBlocksPanel batch={batch} linkTo={linkTo} />}
    </>
  );
}

/** Pointing at a pane's head or its row, or focusing something there, dims the other panes' sequences here. */
function useHighlightOnHover({ dock }: Batch): void {
  useEffect(() => {
    const headOf = (target: EventTarget | null) =>
      target instanceof Element ? target.closest<HTMLElement>("[data-highlight]") : null;
    const enter = ({ target }: Event) => {
      const head = headOf(target);
      if (head) dock.highlight(Number(head.dataset["highlight"]));
    };
    const leave = ({ target, relatedTarget }: MouseEvent | FocusEvent) => {
      const head = headOf(target);
      if (head && headOf(relatedTarget) !== head) dock.highlight(null);
    };
    return listen(document, { mouseover: enter, focusin: enter, mouseout: leave, focusout: leave });
  }, [dock]);
}
