import { useLayoutEffect, useRef, type ReactNode } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { IconButton } from "./Button.tsx";
import { classNames } from "../class-names.ts";
import { Guard } from "./Guard.tsx";

/** What a dialog shows, and how. */
export interface DialogContent {
  /** What it looks like, and its head. [as all others] */
  readonly className?: string;
  readonly headClass?: string;
  /** Its accessible name. */
  readonly name: string;
  /** The head's words. [the content has a head of its own] */
  readonly title?: string;
  readonly widthPx: number;
  /** Id of the button below which it opens. [in the middle of the window] */
  readonly beside?: string;
  readonly render: (close: () => void, openChats: () => AppState) => ReactNode;
}

interface DialogProps {
  content: DialogContent;
  openChats: () => AppState;
  onClosed: () => void;
}

/** A native modal dialog in the app's style, open while it is rendered. Escape or a click beside it closes it. */
export function Dialog({ content, openChats, onClosed }: DialogProps) {
  const { className, headClass, name, title, widthPx, beside, render } = content;
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
  const body = <Body render={() => render(close, openChats)} />;
  return (
    <dialog
      ref={ref}
      className={classNames("dialog", beside && "sheet", className)}
      style={{ width: widthPx, ...(beside && placeBelow(beside)) }}
      aria-label={name}
      closedby="any"
      onClose={onClosed}
    >
      <Guard part="This dialog" onClose={close}>
        {title && <DialogHead title={title} className={headClass} onClose={close} />}
        {beside ? <div className="min-h-0 overflow-auto overscroll-contain px-4 pt-3 pb-4">{body}</div> : body}
      </Guard>
    </dialog>
  );
}

/** A component, so that its errors end at the guard. */
function Body({ render }: { render: () => ReactNode }) {
  return render();
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
  onClose: () => void;
  /** Buttons before the one that closes. */
  children?: ReactNode;
}

export function DialogHead({ title, className, onClose, children }: DialogHeadProps) {
  return (
    <div className={classNames("dialog-head", className)}>
      <h2 className="title min-h-0 min-w-0 flex-1 truncate" dir="auto">
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
