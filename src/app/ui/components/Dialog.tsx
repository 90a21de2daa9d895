import { useLayoutEffect, useState, type ReactNode, type RefObject } from "react";
import { IconButton } from "./IconButton.tsx";
import { classNames } from "../class-names.ts";
import { Guard } from "./Guard.tsx";

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
  // Where another page hides it, it would still keep that page from being used.
  useLayoutEffect(() => {
    const dialog = ref.current;
    return () => dialog?.close();
  }, [ref]);
  return (
    <dialog
      ref={ref}
      className={classNames("dialog", className)}
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

interface DialogHeadProps {
  title: string;
  className?: string | undefined;
  onClose: () => void;
  /** Buttons before the one that closes. */
  children?: ReactNode;
}

export function DialogHead({ title, className, onClose, children }: DialogHeadProps) {
  return (
    <div className={classNames("dialog-head", className)}>
      <h2 className="title cut grow" dir="auto">
        {title}
      </h2>
      {children}
      <CloseButton onClick={onClose} />
    </div>
  );
}

export function CloseButton({ onClick }: { onClick: () => void }) {
  return <IconButton icon="close" name="Close" onClick={onClick} />;
}
