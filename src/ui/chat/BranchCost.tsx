import type { Pane } from "../../state/chat/pane.ts";
import { formatCount } from "../format.ts";
import { visibleToken } from "../token-text.ts";
import { useStore } from "../use-store.ts";

/** Where an answer left the one that it begins with, and what that cost. */
export function BranchCost({ pane, turnId }: { pane: Pane; turnId: number }) {
  const branch = useStore(pane.store, () => pane.branches.get(turnId));
  if (branch === undefined) return null;
  const { word, cost } = branch;
  return (
    <span>
      Went on with “{visibleToken({ text: word })}”
      {cost &&
        `: ${formatCount(cost.promptTokens - cost.cachedTokens)} of ${formatCount(cost.promptTokens)} prompt tokens computed, the rest shared`}
    </span>
  );
}
