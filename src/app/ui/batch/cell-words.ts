import type { SequenceId } from "../../../index.ts";
import { askerOf, type Asker } from "../../state/chat/request-name.ts";
import type { Cell } from "../../state/batch/timeline.ts";
import { formatCount, formatCounted } from "../format.ts";

/** Returns "Pane 3, turn 2", or the id of a request that no pane asked. */
export function sequenceName({ requestId, index }: SequenceId): string {
  const asker = askerOf(requestId);
  const choice = index > 0 ? `, choice ${index + 1}` : "";
  return (asker ? `Pane ${asker.pane}, ${turnName(asker)}` : `Request ${requestId.slice(0, 24)}`) + choice;
}

/** Returns a turn's name; the demo warms up before the first turn of its panes. */
export function turnName({ turn }: Asker): string {
  return turn === 0 ? "warm-up" : `turn ${turn}`;
}

const ENDINGS = { stop: "finished", length: "finished: reached the length limit", abort: "stopped" } as const;

/** Describes a sequence's work in a step. */
export function cellWords(cell: Cell | undefined): string {
  switch (cell?.kind) {
    case "prompt": {
      const cached = cell.cachedTokens > 0 ? `, ${formatCount(cell.cachedTokens)} found in the cache` : "";
      return `prompt, ${formatCounted(cell.rows, "token")} computed${cached}`;
    }
    case "decode":
      return `decode, token ${formatCount(cell.start + 1)}`;
    case "drafted": {
      const tokens = formatCounted(cell.drafted, "drafted token");
      return `decode from token ${formatCount(cell.start + 1)} on, with ${tokens}, ${formatCount(cell.accepted)} accepted`;
    }
    case "waiting":
      return "waiting";
    case "preempted":
      return "preempted: gave its blocks up, and will be computed again";
    case "finished":
      return ENDINGS[cell.reason];
    case undefined:
      return "no part in this step";
  }
}
