import type { SequenceId } from "../../protocol/reports.ts";
import type { Dock } from "../../state/dock.ts";
import { askerOf } from "../../state/request-name.ts";
import { VoiceBadge } from "../VoiceBadge.tsx";
import { sequenceName, turnName } from "./cell-words.ts";
import css from "./TimelinePanel.module.css";

interface TimelineRowLabelProps {
  id: SequenceId;
  dock: Dock;
  isSmall: boolean;
  onGoTo: (pane: number) => void;
}

/** Whose row it is; a button that goes there. */
export function TimelineRowLabel({ id, dock, isSmall, onGoTo }: TimelineRowLabelProps) {
  const asker = askerOf(id.requestId);
  if (!asker) return <span className={css.other}>{isSmall ? "…" : "other"}</span>;
  return (
    <button
      type="button"
      className={css.label}
      data-small={isSmall}
      title={sequenceName(id)}
      onClick={() => onGoTo(asker.pane)}
      onPointerEnter={() => dock.point(asker.pane)}
      onPointerLeave={() => dock.point(null)}
      onFocus={() => dock.point(asker.pane)}
      onBlur={() => dock.point(null)}
    >
      <span className="sr">Go to Pane </span>
      <VoiceBadge number={asker.pane} />
      <span className={isSmall ? "sr" : undefined}> {turnName(asker)}</span>
    </button>
  );
}
