import { useState, type ReactNode, type RefObject } from "react";
import { Button } from "./Button.tsx";
import { classNames } from "../class-names.ts";
import css from "./Dialog.module.css";
import { Guard } from "./Guard.tsx";
import { Icon } from "./Icon.tsx";

interface DialogProps {
  ref: RefObject<HTMLDialogElement | null>;
  /** Its accessible name. */
  name: string;
  className?: string | undefined;
  onClosed?: () => void;
  children: ReactNode;
}

/**
 * A native modal dialog in the app's style. `ref.current.showModal()` opens it; Escape or a click beside it closes it.
 */
export function Dialog({ ref, name, className, onClosed, children }: DialogProps) {
  const [opening, setOpening] = useState(0);
  return (
    <dialog
      ref={ref}
      className={classNames(css.dialog, className)}
      aria-label={name}
      closedby="any"
      onClose={({ currentTarget }) => {
        // The event is fired late: the dialog may be open again by then.
        if (currentTarget.open) return;
        setOpening(opening + 1);
        onClosed?.();
      }}
    >
      <Guard part="This dialog" subject={opening} onClose={() => ref.current?.close()}>
        {children}
      </Guard>
    </dialog>
  );
}

export function CloseButton({ onClick }: { onClick: () => void }) {
  return (
    <Button look="icon" aria-label="Close" onClick={onClick}>
      <Icon name="close" />
    </Button>
  );
}
