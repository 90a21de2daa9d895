import { useStore } from "zustand";
import type { Announcements } from "../../state/app/announcements.ts";

/** Invisible. Screen readers speak each paragraph that is added. Streaming text itself is never a live region. */
export function Announcer({ announcements }: { announcements: Announcements }) {
  const items = useStore(announcements.store);
  return (
    <div className="sr-only" aria-live="polite" aria-relevant="additions">
      {items.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
