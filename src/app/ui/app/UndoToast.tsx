import { useEffect, useState } from "react";
import type { Toast, UndoList } from "../../state/workspace/undo-list.ts";
import { Button } from "../components/Button.tsx";
import { CloseButton } from "../components/Dialog.tsx";
import { Keys } from "../actions/Keys.tsx";

/** Long enough to be read and reached. The command "Undo" stays. */
const SHOWN_MS = 8000;

export function UndoToast({ undoList, toast }: { undoList: UndoList; toast: Toast }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => undoList.dismissToast(), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [undoList, toast, isHeld]);
  const { title, undoable, offer } = toast;
  return (
    <div
      // Phones have no keys.
      className="float row toast max-sm:[&_kbd]:hidden"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <p>{title}</p>
      {undoable && (
        <Button onClick={() => undoList.undo(undoable)}>
          Undo
          <Keys keys="Mod+Z" />
        </Button>
      )}
      {offer && (
        <Button
          onClick={() => {
            undoList.dismissToast();
            offer.run();
          }}
        >
          {offer.label}
        </Button>
      )}
      <CloseButton onClick={() => undoList.dismissToast()} />
    </div>
  );
}
