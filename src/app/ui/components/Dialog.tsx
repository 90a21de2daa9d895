import { createContext, use, useLayoutEffect, useRef, type ReactNode } from "react";
import type { DialogContent } from "../app/page-context.ts";
import { IconButton } from "./Button.tsx";
import { classNames } from "../class-names.ts";
import { Guard } from "./Guard.tsx";

const CloseDialog = createContext((): void => undefined);

/** Returns what closes the dialog around a component. Outside of one it does nothing. */
export const useClose = (): (() => void) => use(CloseDialog);

/** A native modal dialog in the app's style, open while it is rendered. Escape or a click beside it closes it. */
export function Dialog({ content, onClosed }: { content: DialogContent; onClosed: () => void }) {
  const { className, headClass, title, name = title, widthPx, beside, body } = content;
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
  return (
    <dialog
      ref={ref}
      className={classNames("dialog", beside && "sheet", className)}
      style={{ width: widthPx, ...(beside && placeBelow(beside)) }}
      aria-label={name}
      closedby="any"
      onClose={onClosed}
    >
      <CloseDialog value={close}>
        <Guard part="This dialog" onClose={close}>
          {title && <DialogHead title={title} className={headClass} />}
          {beside ? <div className="min-h-0 overflow-auto overscroll-contain px-4 pt-3 pb-4">{body}</div> : body}
        </Guard>
      </CloseDialog>
    </dialog>
  );
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
  className?: string | undefined;
  /** Buttons before the one that closes. */
  children?: ReactNode;
}

export function DialogHead({ title, className, children }: DialogHeadProps) {
  return (
    <div className={classNames("dialog-head", className)}>
      <h2 className="title min-h-0 min-w-0 flex-1 truncate" dir="auto">
        {title}
      </h2>
      {children}
      <CloseButton onClick={useClose()} />
    </div>
  );
}

export function CloseButton({ onClick }: { onClick: () => void }) {
  return <IconButton icon="close" name="Close" onClick={onClick} />;
}
