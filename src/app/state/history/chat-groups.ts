import type { ListedChat } from "./chat-list.ts";

export type ChatLine =
  | { readonly kind: "heading"; readonly title: string }
  | { readonly kind: "chat"; readonly chat: ListedChat };

const DAY_MS = 86_400_000;

/** Returns the chats below headings: the open ones, then by their day or month. @param chats in order */
export function groupChats(chats: readonly ListedChat[], nowMs = Date.now()): readonly ChatLine[] {
  const titles = chats.map(({ pane, dateMs }) => (pane ? "Open" : nameOfTime(dateMs, nowMs)));
  return chats.flatMap((chat, index): ChatLine[] => {
    const title = titles[index] ?? "";
    const line = { kind: "chat", chat } as const;
    return title === titles[index - 1] ? [line] : [{ kind: "heading", title }, line];
  });
}

function nameOfTime(dateMs: number, nowMs: number): string {
  const today = new Date(nowMs).setHours(0, 0, 0, 0);
  // A day may have 23 or 25 hours, where clocks change.
  const daysAgo = Math.round((today - new Date(dateMs).setHours(0, 0, 0, 0)) / DAY_MS);
  if (daysAgo <= 0) return "Today";
  if (daysAgo === 1) return "Yesterday";
  if (daysAgo < 7) return "Last 7 days";
  return MONTH.format(dateMs);
}

const MONTH = new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric" });
