import { useLayoutEffect, useRef, type ReactNode } from "react";
import { IconButton } from "./IconButton.tsx";
import { classNames } from "../class-names.ts";
import { Guard } from "./Guard.tsx";

interface DialogProps {
  /** For its styles. */
  kind: string;
  /** Its accessible name. */
  name: string;
  /** The head's words. [the content has a head of its own] */
  title?: string | undefined;
  widthPx: number;
  /** Id of the button below which it opens. [in the middle of the window] */
  beside?: string | undefined;
  onClosed: () => void;
  children: (close: () => void) => ReactNode;
}

/** A native modal dialog in the app's style, open while it is rendered. Escape or a click beside it closes it. */
export function Dialog({ kind, name, title, widthPx, beside, onClosed, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const close = () => ref.current?.close();
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      // While it is in the page: so the focus goes back to what had it.
      dialog?.close();
    };
  }, []);
  const content = <Content render={children} close={close} />;
  return (
    <dialog
      ref={ref}
      className={classNames("dialog", beside && "sheet")}
      data-kind={kind}
      style={{ width: widthPx, ...(beside && placeBelow(beside)) }}
      aria-label={name}
      closedby="any"
      onClose={onClosed}
    >
      <Guard part="This dialog" onClose={close}>
        {title && <DialogHead title={title} onClose={close} />}
        {beside ? <div className="dialog-body">{content}</div> : content}
      </Guard>
    </dialog>
  );
}

function Content({ render, close }: { render: (close: () => void) => ReactNode; close: () => void }) {
  return render(close);
}

/** Below its button, and within the window. */
function placeBelow(id: string) {
  const { bottom, right } = document.getElementById(id)?.getBoundingClientRect() ?? new DOMRect();
  return {
    "--top": `${Math.min(bottom + 4, innerHeight / 3)}px`,
    "--right": `${Math.max(8, innerWidth - Math.max(right, 440))}px`,
  };
}

interface DialogHeadProps {
  title: string;
  onClose: () => void;
  /** Buttons before the one that closes. */
  children?: ReactNode;
}

export function DialogHead({ title, onClose, children }: DialogHeadProps) {
  return (
    <div className="dialog-head">
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
