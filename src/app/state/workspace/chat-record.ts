// Chats as they are stored, and the rule by which several tabs save the same one: nobody replaces words that it has not read.

import { attempt } from "../../attempt.ts";
import { oneLine } from "../one-line.ts";
import { listOf, optional, orNull, recordOf, text, wholeNumber, type Read } from "../read-record.ts";
import { MAX_PANES, readChat, readSettings, textOfChat, titleOfChat, type NamedChat } from "./saved-workspace.ts";

export type ChatRecord = Readonly<ReturnType<typeof RECORD>>;

/** A changed chat. It can be applied again: that changes nothing. */
export type Change = Readonly<ReturnType<typeof CHANGE>>;

/** The panes of a tab. */
export type PaneList = Readonly<ReturnType<typeof readPaneList>>;

/** A save that a closing page left, since the database had not confirmed it. */
export type LeftSave = Readonly<ReturnType<typeof readLeftSave>>;

/** What a tab saves at once. */
export type Save = Omit<LeftSave, "saves">;

/** A record that can't be read. Nobody has read it, so that nobody replaces it. */
export const DAMAGED: ChatRecord = {
  chat: { id: "", title: null, settings: {}, turns: [], contextStart: 0, draft: "" },
  revision: "damaged",
  past: [],
  savedMs: 0,
};

/** Most pages: one that closed leaves its last change until the next start. */
const MAX_PAST = 50;
/** So that lists, which cut titles, show what follows. */
const COPIED_TITLE_LENGTH = 60;
const COPY = " (changed in another tab)";

const TIME_MS = wholeNumber(0, Number.MAX_SAFE_INTEGER);
const readNamed: Read<NamedChat> = (value, path) => ({
  ...readChat(value, path),
  ...recordOf({ id: text })(value, path),
});
const RECORD = recordOf({
  chat: readNamed,
  /** Names this state of the chat: its page, a dot, and a number that grows. */
  revision: text,
  /** The revisions that it goes on from, the last of each page, the newest last. */
  past: listOf(text),
  /** Milliseconds since 1970. */
  savedMs: TIME_MS,
});
const CHANGE = recordOf({
  id: text,
  /** Null deletes it. */
  chat: orNull(readChat),
  /** The revisions that it goes on from: the one that was read, and those whose save was not confirmed. */
  from: listOf(text),
  revision: text,
  /** Its id if another tab has changed the stored one. */
  copyId: text,
  savedMs: TIME_MS,
});
const PANE_NUMBER = wholeNumber(1, MAX_PANES);
export const PANE_LIST = {
  /** In display order. `blank`: a chat without text, which is not stored. */
  places: listOf(recordOf({ number: PANE_NUMBER, id: text, blank: optional(readChat) })),
  /** The number of the pane in view. */
  current: PANE_NUMBER,
};

export const readPaneList = recordOf(PANE_LIST);

export const readLeftSave = recordOf({
  ...PANE_LIST,
  changes: listOf(CHANGE),
  /** The settings for all panes. Null: unchanged. */
  shared: orNull(readSettings),
  /** The saves that it goes on from, by their ids; the last is its own. */
  saves: listOf(text),
});

/** Returns a stored record, or DAMAGED. */
export function readRecord(value: unknown): ChatRecord {
  return attempt(() => RECORD(value, ""), DAMAGED);
}

/**
 * Applies changes to records. A change of a record that has changed elsewhere becomes a chat of its own beside it.
 * @param records those of all changes' ids, as `readRecords` has them
 * @returns the changed chats' records by the changes' ids; null for those that are deleted
 */
export function applyChanges(
  records: Map<string, ChatRecord>,
  changes: readonly Change[],
): ReadonlyMap<string, ChatRecord | null> {
  const outcomes = new Map<string, ChatRecord | null>();
  for (const { id, chat, from, revision, copyId, savedMs } of changes) {
    const hasArrived = (record: ChatRecord | undefined) =>
      record !== undefined && [record.revision, ...record.past].some((each) => isSince(each, revision));
    const isOwn = (at: string) => {
      const record = records.get(at);
      return record === undefined || from.includes(record.revision) || hasArrived(record);
    };
    const there = records.get(id);
    if (chat === null) {
      if (there && from.includes(there.revision)) records.delete(id);
      outcomes.set(id, null);
      continue;
    }
    if (there && there !== DAMAGED && !isOwn(id) && textOfChat(there.chat) === textOfChat(chat)) {
      outcomes.set(id, there);
      continue;
    }
    const place = [id, copyId].find(isOwn) ?? revision;
    const before = records.get(place);
    if (before === undefined || !hasArrived(before)) {
      const earlier = before ? [...before.past, before.revision] : [];
      const past = lastOfPages([...earlier, ...from]);
      const title =
        place === id || chat.title?.endsWith(COPY)
          ? chat.title
          : `${oneLine(titleOfChat(chat), COPIED_TITLE_LENGTH)}${COPY}`;
      records.set(place, { chat: { ...chat, id: place, title }, revision, past, savedMs });
    }
    outcomes.set(id, records.get(place) ?? null);
  }
  return outcomes;
}

/** Returns whether a revision is this one, or a later one of the same page. */
function isSince(revision: string, first: string): boolean {
  const [page, number] = parsedRevision(revision);
  const [firstPage, firstNumber] = parsedRevision(first);
  return page === firstPage && number >= firstNumber;
}

function lastOfPages(revisions: readonly string[]): readonly string[] {
  const isLast = (revision: string, index: number) =>
    revisions.slice(index + 1).every((later) => !isSince(later, revision));
  return revisions.filter(isLast).slice(-MAX_PAST);
}

/** The revision of DAMAGED has no number. */
function parsedRevision(revision: string): readonly [page: string, number: number] {
  const [, page = revision, number = 0] = /^(.+)\.(\d+)$/.exec(revision) ?? [];
  return [page, Number(number)];
}
