import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { Button } from "./Button.tsx";

interface NoticeProps {
  readonly words: ReactNode;
  /** Whether it only tells, and warns of nothing. */
  readonly isMild?: boolean;
  readonly className?: string | undefined;
  readonly onDismiss?: () => void;
  readonly children?: ReactNode;
}

/** A line above the panes. */
export function Notice({ words, isMild = false, className, onDismiss, children }: NoticeProps) {
  return (
    <div
      className={classNames(
        "mx-(--page) mb-2 flex items-center gap-3 rounded-lg px-3 py-1.5 text-ink-2 [&>output]:flex-1",
        isMild ? "border border-line bg-surface" : "bg-warn-tint",
        className,
      )}
    >
      <output>{words}</output>
      {children}
      {onDismiss && (
        <Button look="quiet" onClick={onDismiss}>
          Dismiss
        </Button>
      )}
    </div>
  );
}
