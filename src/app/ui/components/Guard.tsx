import type { ReactNode } from "react";
import { usePage } from "../app/page-context.ts";
import { saveAllChats } from "../save-chats.ts";
import { Button } from "./Button.tsx";
import { ErrorBoundary } from "./ErrorBoundary.tsx";

interface GuardProps {
  /** The guarded part's name, for messages: "This pane". */
  readonly part: string;
  /** When this changes, the part is tried again. */
  readonly subject?: unknown;
  /** Closes the part, if that is possible. */
  readonly onClose?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** Limits an error to its part of the page: says there that the chats are safe, and offers remedies. */
export function Guard({ part, subject, onClose, children }: GuardProps) {
  return (
    <ErrorBoundary
      subject={subject}
      renderFallback={(tryAgain) => <FailedPart part={part} onTryAgain={tryAgain} onClose={onClose} />}
    >
      {children}
    </ErrorBoundary>
  );
}

function FailedPart({ part, onTryAgain, onClose }: Pick<GuardProps, "part" | "onClose"> & { onTryAgain: () => void }) {
  const chats = usePage().openedChats();
  const isSaved = chats === null || chats.saver?.store.getState() === "saved";
  return (
    <div className="m-auto w-[min(100%,520px)] overflow-auto p-5" role="alert">
      <h2 className="heading">{part} can&rsquo;t be shown</h2>
      <p className="mt-1 mb-3 t-14 text-pretty text-ink-2">
        An error in Chorus stopped it.{" "}
        {isSaved
          ? "Your chats are safe: they are saved in this browser."
          : "Your chats are safe as long as this page is open. They are not saved here: export them before you reload."}
      </p>
      <div className="row flex-wrap">
        <Button look="ink" onClick={onTryAgain}>
          Try again
        </Button>
        <Button onClick={() => location.reload()}>Reload the page</Button>
        {chats && <Button onClick={() => void saveAllChats(chats)}>Export the chats</Button>}
        {onClose && <Button onClick={onClose}>Close</Button>}
      </div>
    </div>
  );
}
