import { useLayoutEffect, type CSSProperties, type ReactNode, type RefObject } from "react";
import { CloseButton, Dialog } from "./Dialog.tsx";
import css from "./ListDialog.module.css";

interface ListDialogProps {
  readonly ref: RefObject<HTMLDialogElement | null>;
  /** Its accessible name. */
  readonly name: string;
  readonly title: string;
  /** A badge before the title. */
  readonly badge?: ReactNode;
  readonly style?: CSSProperties;
  readonly onClosed: () => void;
  readonly children: ReactNode;
}

/** A large dialog for a list of its own height, open from the start; on a phone it takes the whole window. */
export function ListDialog({ ref, name, title, badge, style, onClosed, children }: ListDialogProps) {
  // Before the effects of its children, which move the focus.
  useLayoutEffect(() => {
    ref.current?.showModal();
  }, [ref]);
  return (
    <Dialog ref={ref} name={name} className={css.dialog} onClosed={onClosed}>
      <div className={css.head} style={style}>
        {badge}
        <h2 dir="auto">{title}</h2>
        <CloseButton onClick={() => ref.current?.close()} />
      </div>
      {children}
    </Dialog>
  );
}
