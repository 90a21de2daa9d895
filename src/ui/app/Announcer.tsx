import type { Announcements } from "../../state/app/announcements.ts";
import { useStore } from "../use-store.ts";

/** Unseen; a screen reader speaks each paragraph that is added. Streaming text itself is never live. */
export function Announcer({ announcements }: { announcements: Announcements }) {
  const items = useStore(announcements.store, (kept) => kept);
  return (
    <div className="sr" aria-live="polite" aria-relevant="additions">
      {items.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
