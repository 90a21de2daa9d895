import type { SequenceId } from "../../../index.ts";
import { askerOf } from "../../state/chat/request-name.ts";
import { VoiceBadge } from "../components/VoiceBadge.tsx";
import { sequenceName, turnName } from "./cell-words.ts";
import css from "./TimelinePanel.module.css";

interface TimelineRowLabelProps {
  id: SequenceId;
  isSmall: boolean;
  /** Goes to the pane that asked; null if that pane is gone. */
  onGoTo: (() => void) | null;
}

/** The label of a row; a button if its pane can be focused. */
export function TimelineRowLabel({ id, isSmall, onGoTo }: TimelineRowLabelProps) {
  const asker = askerOf(id.requestId);
  if (!asker) return <span className="cut">{isSmall ? "…" : "other"}</span>;
  const { pane } = asker;
  const label = { className: css.label, "data-small": isSmall, "data-solo": pane, title: sequenceName(id) };
  const words = (
    <>
      <span className="sr">{onGoTo ? "Go to Pane " : "Pane "}</span>
      <VoiceBadge number={pane} />
      <span className={isSmall ? "sr" : undefined}> {turnName(asker)}</span>
    </>
  );
  if (!onGoTo) return <span {...label}>{words}</span>;
  return (
    <button type="button" {...label} onClick={onGoTo}>
      {words}
    </button>
  );
}
