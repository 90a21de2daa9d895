import { useState, type ReactNode } from "react";

/** Which were open last, while the page lives. */
const wasOpen = new Map<string, boolean>();

interface MoreProps {
  /** What it is about: where it was open, it is open again. */
  readonly topic: string;
  readonly isOpenAtFirst?: boolean;
  /** Beside its name, also while it is closed. */
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

/** What few people need: a line that opens it. */
export function More({ topic, isOpenAtFirst = false, note, children }: MoreProps) {
  const [isOpen, setOpen] = useState(() => wasOpen.get(topic) ?? isOpenAtFirst);
  const show = (open: boolean) => {
    wasOpen.set(topic, open);
    setOpen(open);
  };
  return (
    <details className="more" open={isOpen} onToggle={({ currentTarget: { open } }) => show(open)}>
      {/* At once: the event comes later, and what holds this may be closed by then. */}
      <summary
        onClick={(event) => {
          event.preventDefault();
          show(!isOpen);
        }}
      >
        More
        <span className="small ms-auto">{note}</span>
      </summary>
      {children}
    </details>
  );
}
