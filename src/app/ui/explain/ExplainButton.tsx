import { useRef, useState } from "react";
import { createPortal } from "react-dom";
import type { Batch } from "../../state/batch/batch.ts";
import { Dialog, DialogHead } from "../components/Dialog.tsx";
import { lazily } from "../components/Lazily.tsx";
import { classNames } from "../class-names.ts";
import type { Term } from "./explanations.ts";
import css from "./ExplainButton.module.css";

const ExplainBody = lazily(async () => (await import("./ExplainBody.tsx")).ExplainBody);

interface ExplainButtonProps {
  batch: Batch;
  term: Term;
  /** Name of the explained figure. */
  name: string;
  className?: string | undefined;
}

/** A "?" that explains the figure beside it. */
export function ExplainButton({ batch, term, name, className }: ExplainButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    setOpen(true);
    dialog.current?.showModal();
  };
  const label = `About ${name}`;
  return (
    <>
      <button
        type="button"
        className={classNames(css.button, className)}
        aria-label={label}
        aria-haspopup="dialog"
        title={label}
        onClick={open}
      >
        ?
      </button>
      {/* Outside of the explained element, whose styles are for figures. */}
      {createPortal(
        <Dialog ref={dialog} name={label} className={css.dialog} onClosed={() => setOpen(false)}>
          {isOpen && (
            <>
              <DialogHead title="How the batch works" onClose={() => dialog.current?.close()} />
              <div className={css.body}>
                <ExplainBody batch={batch} first={term} />
              </div>
            </>
          )}
        </Dialog>,
        document.body,
      )}
    </>
  );
}
