import { useEffect, useMemo, useRef, useState, type RefObject } from "react";
import { branchLines, type BranchLine } from "../../state/chat/branch-lines.ts";
import type { BranchView } from "../../state/chat/branch-view.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { titleOfChat } from "../../state/workspace/saved-workspace.ts";
import { ListDialog } from "../components/ListDialog.tsx";
import { VirtualList, type VirtualListHandle } from "../components/VirtualList.tsx";
import { VoiceBadge } from "../components/VoiceBadge.tsx";
import { useStore } from "../use-store.ts";
import { voiceStyle } from "../voice.ts";
import { focusMessageOf } from "../chat/Composer.tsx";
import css from "./BranchDialog.module.css";
import { BranchRow, BRANCH_ROW_PX } from "./BranchRow.tsx";

const heightOf = () => BRANCH_ROW_PX;
const keyOf = ({ turn }: BranchLine) => `${turn.id}`;
const hasButton = () => true;

/** A chat's tree: every turn with its variants. A click goes to the conversation through it. */
export function BranchDialog({ view, pane }: { view: BranchView; pane: Pane }) {
  const title = useStore(pane.store, titleOfChat);
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <ListDialog
      ref={dialog}
      name="Branches"
      title={title}
      badge={<VoiceBadge number={pane.number} />}
      style={voiceStyle(pane.number)}
      onClosed={view.close}
    >
      <Branches pane={pane} dialog={dialog} />
    </ListDialog>
  );
}

function Branches({ pane, dialog }: { pane: Pane; dialog: RefObject<HTMLDialogElement | null> }) {
  const turns = useStore(pane.store, (state) => state.turns);
  const unchosen = useStore(pane.store, (state) => state.unchosen);
  const isIdle = useStore(pane.store, (state) => state.phase === "idle");
  const lines = useMemo(() => branchLines({ turns, unchosen }), [turns, unchosen]);
  const rows = useRef<VirtualListHandle>(null);
  /** The end of the chosen path, where the conversation is. */
  const [startAt] = useState(() => lines.findIndex(({ turn }) => turn.id === turns.at(-1)?.id));
  useEffect(() => {
    rows.current?.focus(startAt);
  }, [startAt]);

  const choose = (turnId: number) => {
    pane.chooseTurn(turnId);
    dialog.current?.close();
    focusMessageOf(pane);
  };
  return (
    <>
      <p className={css.hint}>
        {isIdle
          ? "Regenerated answers and edited questions are variants. Choose a turn to go on from there."
          : "While an answer is in progress, no other variant can be chosen."}
      </p>
      <div className={css.tree} style={voiceStyle(pane.number)}>
        <VirtualList ref={rows} name="Turns" lines={lines} heightOf={heightOf} keyOf={keyOf} hasButton={hasButton}>
          {(line) => <BranchRow line={line} isIdle={isIdle} onChoose={choose} />}
        </VirtualList>
      </div>
    </>
  );
}
