import type { SequenceId } from "../../../index.ts";
import { askerOf } from "../../state/chat/request-name.ts";
import { VoiceBadge } from "../components/VoiceBadge.tsx";
import { sequenceName, turnName } from "./cell-words.ts";

interface TimelineRowLabelProps {
  id: SequenceId;
  isSmall: boolean;
  /** Goes to the pane that asked; null if that pane is gone. */
  onGoTo: (() => void) | null;
}

/** The label of a row; a button if its pane can be focused. */
export function TimelineRowLabel({ id, isSmall, onGoTo }: TimelineRowLabelProps) {
  const asker = askerOf(id.requestId);
  if (!asker) return <span className="min-w-0 truncate">{isSmall ? "…" : "other"}</span>;
  const { pane } = asker;
  const label = {
    className: "bare row gap-1.5 h-full rounded-xs whitespace-nowrap",
    "data-solo": pane,
    title: sequenceName(id),
  };
  const words = (
    <>
      <span className="sr-only">{onGoTo ? "Go to Pane " : "Pane "}</span>
      <VoiceBadge
        number={pane}
        className={isSmall ? "h-2.75 rounded-[3px] text-[9px] tracking-[-0.02em]" : "h-4 rounded-[3px]"}
      />
      <span className={isSmall ? "sr-only" : undefined}> {turnName(asker)}</span>
    </>
  );
  if (!onGoTo) return <span {...label}>{words}</span>;
  return (
    <button type="button" {...label} onClick={onGoTo}>
      {words}
    </button>
  );
}
