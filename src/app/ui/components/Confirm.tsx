import { useCallback, useState, type KeyboardEvent, type ReactNode, type RefCallback } from "react";
import { classNames } from "../class-names.ts";
import { focusOnShow } from "../on-show.ts";
import { Button } from "./Button.tsx";

interface ConfirmProps {
  readonly question: string;
  /** What the button says that does it. ["Delete"] */
  readonly verb?: string;
  /** Whether only the buttons have room. */
  readonly isShort?: boolean;
  readonly className?: string | undefined;
  readonly onConfirm: () => void;
  /** What is there until the question is asked: with the button that asks it, and that has the focus again afterwards. */
  readonly children: (bin: { ref: RefCallback<HTMLButtonElement>; onClick: () => void }) => ReactNode;
}

/** Asks in the place of its children before something is deleted for good. Escape keeps it. */
export function Confirm({ question, verb = "Delete", isShort = false, className, onConfirm, children }: ConfirmProps) {
  const [phase, setPhase] = useState<"first" | "asking" | "back">("first");
  const back = () => setPhase("back");
  const focusWhenBack = useCallback(
    (bin: HTMLButtonElement | null) => {
      if (phase === "back") bin?.focus();
    },
    [phase],
  );
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault(); // else the dialog would close too
    back();
  };
  if (phase !== "asking") return children({ ref: focusWhenBack, onClick: () => setPhase("asking") });
  return (
    // Its buttons have the focus.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <fieldset className={classNames("row", className)} aria-label={question} onKeyDown={onKeyDown}>
      {!isShort && <p className="min-h-0 min-w-0 flex-1 truncate">{question}</p>}
      <Button
        look="ink"
        onClick={() => {
          setPhase("first");
          onConfirm();
        }}
      >
        {verb}
      </Button>
      {/* The choice that loses nothing. */}
      <Button ref={focusOnShow} onClick={back}>
        Keep
      </Button>
    </fieldset>
  );
}
