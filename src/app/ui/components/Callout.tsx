import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { IconButton, Icon } from "./Button.tsx";

interface CalloutProps {
  readonly tone: "info" | "warn" | "bad";
  readonly title: string;
  readonly className?: string | undefined;
  readonly onDismiss?: () => void;
  readonly children: ReactNode;
}

/** A box that says what happened, what goes on by itself, and what one can do. */
export function Callout({ tone, title, className, onDismiss, children }: CalloutProps) {
  return (
    <div className={classNames("callout", tone, className)} role={tone === "bad" ? "alert" : "status"}>
      <div className="row">
        <h3 className="row min-h-0 min-w-0 flex-1 gap-1.5">
          {tone !== "info" && <Icon name="warn" />}
          {title}
        </h3>
        {onDismiss && <IconButton icon="close" className="-mt-1.5 -mr-2 -mb-0.5" name="Dismiss" onClick={onDismiss} />}
      </div>
      {children}
    </div>
  );
}
