import type { Pane } from "../../state/chat/pane.ts";
import type { Branch } from "../../state/chat/answer-memory.ts";
import { formatCount } from "../format.ts";
import { visibleToken } from "../token-text.ts";
import { useStore } from "../use-store.ts";

/** The word with which an answer differs from the one it begins with, and the cost. */
export function BranchCost({ pane, turnId }: { pane: Pane; turnId: number }) {
  const branch = useStore(pane.store, () => pane.memory.branches.get(turnId));
  if (branch === undefined) return null;
  const { word, cost } = branch;
  return (
    <span>
      Continued with “{visibleToken({ text: word })}”{cost && ` (${costWords(cost)})`}
    </span>
  );
}

function costWords({ promptTokens, cachedTokens }: NonNullable<Branch["cost"]>): string {
  const computed = `${formatCount(promptTokens - cachedTokens)} of ${formatCount(promptTokens)} prompt tokens computed`;
  return cachedTokens === 0 ? computed : `${computed}, the rest shared`;
}
